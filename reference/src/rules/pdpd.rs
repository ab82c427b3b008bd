//! Rule set `pdpd`: B onto A from a start axis. OpenVINO, "Broadcast Rules For Elementwise Operations"
//! (`openvino`), lines 15 and 43 to 55.

use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

pub(super) fn align(a: &Shape, b: &Shape, axis: Option<i64>) -> Result<Alignment, Refusal> {
    let start = start(a.rank(), b.rank(), axis)?;

    // PDPD-3. Step 5: "The trailing dimensions of size 1 for input B will be ignored […], such as
    // shape(B) = (3, 1) => (3)".
    let kept = b.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1);
    let trimmed = &b[..kept];

    // PDPD-4. Step 3: "axis is the start dimension index for broadcasting B onto A", so B must end within A.
    let room = a.rank().checked_sub(start);
    if room.is_none_or(|room| room < kept) {
        let message = format!(
            "axis {start} plus {kept} axes of B (without trailing axes of length 1) exceeds the rank of A, {}",
            a.rank()
        );
        return Err(Refusal::new(RefusalKind::AxisOutOfRange, message));
    }

    // PDPD-5. Steps 2 and 3: "B is a continuous subsequence of input A", where a 1 of B, leading or interior,
    // is stretched (required by line 49). A's lengths stay as they are, even 1 (line 55).
    for (i, &length) in trimmed.iter().enumerate() {
        if length != 1 && length != a[start + i] {
            let message =
                format!("length {} of A and {length} of B: only a length 1 of B is stretched", a[start + i]);
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(start + i));
        }
    }

    // PDPD-6. Step 3: "broadcast B to match the shape of A".
    let axes_of_a = (0..a.rank()).map(Some).collect();
    let axes_of_b = (0..b.rank()).map(|i| if i < kept { Some(start + i) } else { None }).collect();
    Ok(Alignment {
        shape: a.clone(),
        axes: vec![axes_of_a, axes_of_b],
        intermediate: None,
        broadcastable: None,
    })
}

/// PDPD-1 and PDPD-2: the axis of A at which B starts, by the ranks as given.
pub(crate) fn start(a: usize, b: usize, axis: Option<i64>) -> Result<usize, Refusal> {
    // PDPD-1. Step 1: "second input B has rank smaller or equal to the first input", on the ranks as given.
    if b > a {
        let message = format!("ranks {a} and {b}: B's rank is higher than A's");
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }

    // PDPD-2. Step 4: "If axis is set to default (-1) calculate new value: axis = rank(A) - rank(B)", with
    // the rank of B as given, before trailing ones are dropped. "no other negative values are allowed".
    match axis {
        None | Some(-1) => Ok(a - b),
        // An axis that does not fit in usize is also beyond A's rank, so PDPD-4 refuses it.
        Some(axis @ 0..) => Ok(usize::try_from(axis).unwrap_or(usize::MAX)),
        Some(axis) => {
            let message = format!("axis {axis}: the only negative axis is -1");
            Err(Refusal::new(RefusalKind::AxisOutOfRange, message))
        }
    }
}
