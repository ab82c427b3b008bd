//! Which cases of a sweep are made: making a case takes longer than asking most implementations about it.

/// All cases of a sweep, the first one, or a sample.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// One case in this many is made; 1 for all of them.
    one_in: u64,
    /// Only this many from the beginning are considered.
    most: usize,
}

impl Part {
    /// Every case.
    pub(crate) const WHOLE: Part = Part { one_in: 1, most: usize::MAX };
    /// The first case alone.
    pub(crate) const FIRST: Part = Part { one_in: 1, most: 1 };

    /// About `most` of this number of cases, spread over all of them and always the same ones.
    pub(crate) fn sample(cases: u64, most: u64) -> Part {
        Part { one_in: cases.div_ceil(most.max(1)).max(1), most: usize::MAX }
    }

    /// Whether no case is left out.
    pub(super) fn is_whole(self) -> bool {
        self.one_in == 1 && self.most == usize::MAX
    }

    /// Whether the case at a place is made. Places are hashed first: neighbours differ in one attribute, so
    /// every nth case would always have the same attribute.
    pub(super) fn takes(self, place: usize, within: u64) -> bool {
        let hashed = (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ within;
        let scattered = (hashed ^ (hashed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        place < self.most && (scattered >> 32).is_multiple_of(self.one_in)
    }

    /// Those of all items whose cases are made.
    pub(super) fn of<T>(self, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let first = all.into_iter().take(self.most).enumerate();
        first.filter(move |&(place, _)| self.takes(place, 0)).map(|(_, item)| item)
    }
}
