//! Keeps a worker from taking all memory of the machine.
//!
//! An allocation of 34 GB may succeed and fail only when the memory is written, and then the system chooses
//! which process to kill. On Linux, the parent process watches the resident memory of its workers, and a
//! worker asks to be chosen first. Elsewhere only the time limit ends such a test. `ulimit -v` would need a
//! shell, and would stop libraries that reserve address space that they do not use, such as GPU runtimes and
//! sanitizers.

use std::fs;

/// The limit is never below this number of bytes: a test may need some memory on a busy machine too.
const LEAST: u64 = 1 << 30;

/// The largest resident memory of a worker in bytes: half of what is available now. `None` if that is
/// unknown.
pub(super) fn limit() -> Option<u64> {
    let available = available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok());
    Some((available.min(group.unwrap_or(u64::MAX)) / 2).max(LEAST))
}

fn available(meminfo: &str) -> Option<u64> {
    kibibytes(meminfo, "MemAvailable:")
}

/// The resident memory of a process in bytes.
pub(super) fn resident(process: u32) -> Option<u64> {
    kibibytes(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, "VmRSS:")
}

/// A line `KEY NUMBER kB`.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// Asks the system to kill this process first if memory runs out.
pub(super) fn volunteer() {
    if cfg!(target_os = "linux") {
        // Without it, the system chooses for itself.
        let _ = fs::write("/proc/self/oom_score_adj", "1000");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let text = "MemTotal:       24684404 kB\nMemAvailable:        3 kB\n";
        assert_eq!(available(text), Some(3072));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        if cfg!(target_os = "linux") {
            assert!(limit().is_some_and(|limit| limit >= LEAST));
            assert!(resident(std::process::id()).is_some_and(|resident| resident > 1 << 20));
        }
    }
}
