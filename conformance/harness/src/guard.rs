//! Makes sure that no process outlives broadcheck, however broadcheck ends. A guard process waits until its
//! standard input is closed, which happens when broadcheck ends. It then kills every process group that is
//! still watched, and the group's first process, which may have left the group. Where there is `/proc`, as on
//! Linux, it also kills every process that has the mark of this run in its environment.
//!
//! The guard is a short shell script, because it must run after broadcheck was killed. On a system without
//! `/bin/sh`, only broadcheck itself ends the groups.

use super::descendants;
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The argument is the mark of the run. A process that was killed may have started another one just before,
/// and a process whose program is just being replaced has an empty environment for a moment: so one pass that
/// finds nothing is not enough.
const SCRIPT: &str = r#"
groups=
while read -r sign group; do
    [ "$sign" = . ] && exit
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
pause() {
    sleep "$1" 2>/dev/null || sleep 1
}
empty=0
pass=0
while [ $pass -lt 20 ]; do
    pass=$((pass + 1))
    # Its exit status says nothing: many of these files cannot be read.
    found=$(grep -lsF -e "$1" /proc/[0-9]*/environ)
    if [ -z "$found" ]; then
        empty=$((empty + 1))
        [ $empty -eq 3 ] && exit
        pause 0.2
        continue
    fi
    empty=0
    for file in $found; do
        file=${file%/environ}
        kill -s KILL "${file#/proc/}" 2>/dev/null
    done
done
"#;

static GUARD: OnceLock<Option<Mutex<Guard>>> = OnceLock::new();

struct Guard {
    child: Child,
    to: ChildStdin,
}

/// Starts the guard, unless it runs. It must run before the first process that it is for: broadcheck may be
/// killed as soon as that one has started.
pub(super) fn prepare() {
    GUARD.get_or_init(start);
}

/// Makes the guard kill this group when broadcheck ends.
pub(super) fn watch(group: u32) {
    notify('+', group);
}

/// Makes the guard leave this group alone: it has ended.
pub(super) fn forget(group: u32) {
    notify('-', group);
}

/// Ends the guard. Nothing is left for it to kill.
pub(super) fn dismiss() {
    if let Some(Some(guard)) = GUARD.get() {
        let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.to.write_all(b".\n").is_ok() {
            let _ = guard.child.wait();
        }
    }
}

fn notify(sign: char, group: u32) {
    if let Some(guard) = GUARD.get_or_init(start) {
        let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        // An error means that the guard has ended; the groups are then ended only by broadcheck.
        let _ = guard.to.write_all(format!("{sign} {group}\n").as_bytes());
    }
}

fn start() -> Option<Mutex<Guard>> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "guard", descendants::run_mark()]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    super::group::apart(&mut command);
    let mut child = descendants::spawn(&mut command).ok()?;
    let to = child.stdin.take()?;
    Some(Mutex::new(Guard { child, to }))
}
