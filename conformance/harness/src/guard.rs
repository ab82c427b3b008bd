//! No process that we start outlives us, however we end: a guard waits for the end of its standard input, which
//! comes with ours, and then ends every process group that it was told of and not told to forget, and the process that
//! it is named after, which may have left it.
//!
//! It is a few lines of the system's own shell, because it must go on when we were killed and can do nothing.
//! Where there is no shell, the groups are ended only by us.

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

/// Ends this group when we end.
pub(super) fn watch(group: u32) {
    tell('+', group);
}

/// This group is gone.
pub(super) fn forget(group: u32) {
    tell('-', group);
}

fn tell(sign: char, group: u32) {
    if let Some(guard) = GUARD.get_or_init(start) {
        let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        // Without a guard nothing is lost that is not lost by ending it.
        let _ = guard.write_all(format!("{sign} {group}\n").as_bytes());
    }
}

fn start() -> Option<Mutex<ChildStdin>> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    super::group::apart(&mut command);
    command.spawn().ok()?.stdin.take().map(Mutex::new)
}
