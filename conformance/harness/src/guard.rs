//! Makes sure that no process outlives broadcheck, however broadcheck ends. A guard process waits until its
//! standard input is closed, which happens when broadcheck ends. It then kills every process group that is
//! still watched, and the group's first process, which may have left the group.
//!
//! The guard is a short shell script, because it must run after broadcheck was killed. On a system without
//! `/bin/sh`, only broadcheck itself ends the groups.

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

const SCRIPT: &str = r#"
groups=
while read -r sign group; do
    rest=
    for other in $groups; do
        [ "$other" = "$group" ] || rest="$rest $other"
    done
    groups=$rest
    [ "$sign" = + ] && groups="$groups $group"
done
for group in $groups; do
    kill -s KILL -- "-$group" "$group" 2>/dev/null
done
"#;

static GUARD: OnceLock<Option<Mutex<ChildStdin>>> = OnceLock::new();

/// Makes the guard kill this group when broadcheck ends.
pub(super) fn watch(group: u32) {
    notify('+', group);
}

/// Tells the guard that this group has ended.
pub(super) fn forget(group: u32) {
    notify('-', group);
}

fn notify(sign: char, group: u32) {
    if let Some(guard) = GUARD.get_or_init(start) {
        let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        // An error means that the guard has ended; the groups are then ended only by broadcheck.
        let _ = guard.write_all(format!("{sign} {group}\n").as_bytes());
    }
}

fn start() -> Option<Mutex<ChildStdin>> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    super::group::apart(&mut command);
    command.spawn().ok()?.stdin.take().map(Mutex::new)
}
