//! Parses times such as that of `--timeout`.

use std::time::Duration;

/// The longest time that is accepted.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// A time such as `10s`, `500ms` or `2min`: at least a millisecond, at most a day.
pub(super) fn parse_time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if (Duration::from_millis(1)..=LONGEST).contains(&time) => Ok(time),
        _ => Err("expected a time from 1ms to 24h, such as 10s".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit_and_bounds() {
        assert_eq!(parse_time("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse_time("1m 500ms"), Ok(Duration::from_millis(60_500)));
        for bad in ["", "10", "0s", "-1s", "25h", "s", "1e3s"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
    }
}
