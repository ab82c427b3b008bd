//! Versions of releases: their order, and which of them `--versions` selects.

use super::Listed;
use std::collections::BTreeMap;

/// How many releases a message names.
const MOST_NAMED: usize = 5;

/// What orders versions: `1.9`, `1.10rc1`, `1.10` as well as `1.10.0`, `1.10.post1`, `1.10.1`. What follows
/// the numbers of a build, as in `1.10+cpu`, does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// The numbers, without zeros at the end.
    numbers: Vec<u64>,
    stage: Stage,
    /// The numbers of a stage other than the release.
    further: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// `rc1`, `.dev3`
    Before,
    Release,
    /// `.post1`
    After,
}

impl Order {
    /// That of a version.
    pub fn of(version: &str) -> Order {
        let (mut numbers, suffix) = (numbers(version), suffix(version));
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        let stage = match suffix.chars().next() {
            Some('p') if suffix.starts_with("post") => Stage::After,
            Some(first) if first.is_ascii_alphabetic() => Stage::Before,
            Some(_) | None => Stage::Release,
        };
        let further = if stage == Stage::Release { Vec::new() } else { all_numbers(suffix) };
        Order { numbers, stage, further }
    }
}

/// What follows the numbers of the release: `post1` of `2.1.0.post1`.
fn suffix(version: &str) -> &str {
    version.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.')
}

/// The numbers of the release: 2, 1 and 0 of `2.1.0.post1`.
fn numbers(version: &str) -> Vec<u64> {
    all_numbers(&version[..version.len() - suffix(version).len()])
}

fn all_numbers(text: &str) -> Vec<u64> {
    let numbers = text.split(|char: char| !char.is_ascii_digit()).filter(|digits| !digits.is_empty());
    numbers.map(|digits| digits.parse().unwrap_or(u64::MAX)).collect()
}

/// This many numbers of the release, of which the last are 0 if the version has fewer.
fn first_numbers(version: &str, count: usize) -> Vec<u64> {
    let mut numbers = numbers(version);
    numbers.resize(count, 0);
    numbers
}

/// The releases that `--versions` selects, the oldest first. `listed` is in the order of versions.
///
/// # Errors
/// An item of the list that selects nothing.
pub fn select<'a>(listed: &'a [Listed], items: &[String]) -> Result<Vec<&'a Listed>, String> {
    let mut places: Vec<usize> = Vec::new();
    for item in items {
        let is_end = |text: &str| text.is_empty() || is_version(text);
        let found = match item.split_once("..") {
            Some((from, to)) if is_end(from) && is_end(to) => range(listed, from, to),
            Some(_) => Vec::new(),
            None => one(listed, item).into_iter().collect(),
        };
        if found.is_empty() {
            return Err(format!("--versions {item}: found no such release, expected {}", examples(listed)));
        }
        places.extend(found);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places.into_iter().map(|place| &listed[place]).collect())
}

/// Whether a text is a version or the beginning of one: `2`, `1.20`, `2.1.0.post1`.
fn is_version(text: &str) -> bool {
    text.split('.').all(|part| {
        let digits = part.strip_prefix("post").unwrap_or(part);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The release with this version, or the newest one of those that begin with it.
fn one(listed: &[Listed], text: &str) -> Option<usize> {
    let (order, start) = (Order::of(text), numbers(text));
    let is_wanted = |release: &Listed| match order.stage {
        Stage::Release => first_numbers(&release.version, start.len()) == start,
        Stage::Before | Stage::After => Order::of(&release.version) == order,
    };
    let newest = || listed.iter().rposition(|release| is_version(text) && is_wanted(release));
    listed.iter().position(|release| release.version == text).or_else(newest)
}

/// The newest release of each series (the first two numbers) between two versions. An end that is missing is
/// open.
fn range(listed: &[Listed], from: &str, to: &str) -> Vec<usize> {
    let (first, last, end) = (Order::of(from), Order::of(to), numbers(to));
    let is_until = |version: &str| match last.stage {
        Stage::Release => first_numbers(version, end.len()) <= end,
        Stage::Before | Stage::After => Order::of(version) <= last,
    };
    let mut newest: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    for (place, Listed { version, .. }) in listed.iter().enumerate() {
        if Order::of(version) >= first && is_until(version) {
            newest.insert(first_numbers(version, 2), place);
        }
    }
    newest.into_values().collect()
}

/// Some releases of the index, for a message.
fn examples(listed: &[Listed]) -> String {
    let last = listed.iter().rev().take(MOST_NAMED).rev().map(|release| release.version.as_str());
    format!("a release of the package index, such as {}", last.collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(versions: &[&str]) -> Vec<Listed> {
        versions.iter().map(|&version| Listed { version: version.into(), date: None }).collect()
    }

    fn selected(items: &str) -> Result<Vec<String>, String> {
        let versions = ["1.9.0", "1.10.0", "1.10.1", "2.0", "2.0.1", "2.1.0", "2.1.0.post1", "3.0.0"];
        selected_of(&versions, items)
    }

    fn selected_of(versions: &[&str], items: &str) -> Result<Vec<String>, String> {
        let items: Vec<String> = items.split(',').map(str::to_owned).collect();
        Ok(select(&listed(versions), &items)?.into_iter().map(|release| release.version.clone()).collect())
    }

    #[test]
    fn a_release_comes_between_what_is_before_and_after_it() {
        let sorted = [
            "0.9",
            "1.0.dev3",
            "1.0",
            "1.0.post1",
            "1.0.post2",
            "1.0.0.1",
            "1.0.1rc1",
            "1.0.1",
            "1.10",
            "x.2",
        ];
        let mut orders = sorted[..9].iter().map(|version| Order::of(version)).collect::<Vec<_>>();
        assert!(orders.is_sorted_by(|one, next| one < next), "{orders:?}");
        orders.push(Order::of(sorted[9]));
        assert!(orders[9] < orders[0], "not a version");
        for (one, same) in
            [("1", "1.0"), ("1.0", "1.0.0"), ("1.0+cpu", "1.0"), ("2026.4.1-22-a9", "2026.4.1")]
        {
            assert_eq!(Order::of(one), Order::of(same));
        }
    }

    #[test]
    fn a_version_that_ends_in_zeros_is_the_same_without_them() {
        let versions = ["1.9", "2", "2.0.post1", "2.0.1", "2.1", "3"];
        let of = |items: &str| selected_of(&versions, items).unwrap().join(" ");
        assert_eq!((of("2.0.."), of("..2.0")), ("2.0.1 2.1 3".into(), "1.9 2.0.1".into()));
        assert_eq!(selected_of(&["2", "3"], "2.0..2.0.0").unwrap(), ["2"]);
        assert_eq!((of("2.0.1"), of("2.0.0"), of("3.0")), ("2.0.1".into(), "2.0.post1".into(), "3".into()));
        assert_eq!((of("2.0.0.post1"), of("..2.post1")), ("2.0.post1".into(), "1.9 2.0.post1".into()));
    }

    #[test]
    fn a_version_is_exact_or_the_beginning_of_one() {
        assert_eq!(selected("1.10.0").unwrap(), ["1.10.0"]);
        assert_eq!(selected("1.10").unwrap(), ["1.10.1"]);
        assert_eq!(selected("2.0").unwrap(), ["2.0"]);
        assert_eq!(selected("2").unwrap(), ["2.1.0.post1"]);
        assert_eq!(selected("3,1.9,3").unwrap(), ["1.9.0", "3.0.0"]);
    }

    #[test]
    fn a_range_has_the_newest_of_each_series() {
        assert_eq!(selected("1.9..2.0").unwrap(), ["1.9.0", "1.10.1", "2.0.1"]);
        assert_eq!(selected("2..").unwrap(), ["2.0.1", "2.1.0.post1", "3.0.0"]);
        assert_eq!(selected("..1.10.0").unwrap(), ["1.9.0", "1.10.0"]);
    }

    #[test]
    fn what_selects_nothing_is_an_error() {
        for item in
            ["4", "1.1", "", "x", "4..5", "2.1..2.0", "1.x", "v2.0", "2.O", "2.", "2.0...3.0", "x..2.0"]
        {
            let error = selected(item).unwrap_err();
            let expected =
                format!("--versions {item}: found no such release, expected a release of the package");
            assert!(error.starts_with(&expected) && error.ends_with("2.1.0.post1, 3.0.0"), "{error}");
        }
    }
}
