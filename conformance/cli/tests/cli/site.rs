//! `broadcheck report` and `broadcheck site`: what they write, and what they leave alone.

use super::*;

/// Two reports of a few cases: of a built-in implementation, and of two.
fn reports(directory: &Path) -> [String; 2] {
    let some = cases_of(&["numpy-zero"]);
    let at = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let paths = [at("one.json"), at("two.json")];
    for (path, names) in paths.iter().zip([&["reference"][..], &["reference", "ndarray"]]) {
        let mut args = vec!["check", "--format", "json", "--out", path.as_str()];
        args.extend(names.iter().flat_map(|name| ["--impl", *name]));
        ends(0, &with(&args, &some));
    }
    paths
}

#[test]
fn reports_are_merged_in_every_format() {
    let directory = tempfile::tempdir().unwrap();
    let [one, two] = reports(directory.path());
    let merged = ends(0, &["report", &one, &two]);
    assert!(
        merged.out.contains("ndarray 0.17.2") && merged.out.contains("2 implementations"),
        "{}",
        merged.out
    );
    assert!(merged.err.contains("in more than one report, with the same results."), "{}", merged.err);
    let out = directory.path().join("out");
    let out = out.to_str().unwrap();
    let formats = "text,json,junit,markdown,html,badge";
    let written = ends(0, &["report", &one, &two, "--format", formats, "--out", out]);
    assert_eq!(written.out.matches("written: ").count(), 7, "{}", written.out);
    let text = fs::read_to_string(Path::new(out).join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../../schema/report.schema.json")).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    let again = ends(0, &["report", &format!("{out}/report.json"), "--format", "json"]);
    assert_eq!(again.out, text, "a merged report is merged with nothing as it is");
    assert!(report["implementations"][0]["declares"]["dtypes"].as_array().unwrap().len() > 5);
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn broken_reports_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let [one, _] = reports(directory.path());
    let broken = write(directory.path(), "broken.json", "{\"suite\": {");
    let out = directory.path().join("site");
    let out = out.to_str().unwrap();
    for command in [&["report"][..], &["site", "--out", out]] {
        complains(
            "broken.json: found text that is not JSON",
            &[command, &[one.as_str(), broken.as_str()]].concat(),
        );
        complains("missing.json: ", &[command, &["missing.json"]].concat());
    }
    assert!(!Path::new(out).exists(), "nothing is written");
    complains("expected --out DIR", &["report", &one, "--format", "html,json"]);
    let other = write(directory.path(), "mine.txt", "mine");
    complains(
        "mine.txt: found a file that is not a report",
        &["report", &one, "--format", "html", "--out", &other],
    );
    let history = write(directory.path(), "history.json", "{\"system\": \"reference\", \"versions\": []}");
    complains("history.json: found 0 versions", &["site", &one, "--history", &history, "--out", out]);
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn a_site_is_replaced_and_nothing_else() {
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let [one, two] = reports(directory.path());
    let out = directory.path().join("site");
    let at = out.to_str().unwrap();
    let history =
        r#"{"system": "reference", "versions": [{"version": "1", "counts": {"passed": 3, "failed": 1}}]}"#;
    let schema: Value = serde_json::from_str(include_str!("../../../schema/history.schema.json")).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&serde_json::from_str(history).unwrap()));
    let history = write(directory.path(), "history.json", history);
    let made = ends(0, &["site", &one, &two, "--out", at, "--history", &history]);
    assert!(
        made.out.contains("index.html: 2 systems, ") && made.err.contains("in more than one"),
        "{}",
        made.out
    );
    let reference = concat!("system/reference-", env!("CARGO_PKG_VERSION"), ".html");
    let system = fs::read_to_string(out.join(reference)).unwrap();
    assert!(system.contains("<svg class=\"plot\"") && system.contains("check --impl reference<"), "{system}");
    assert!(out.join("system/ndarray-0.17.2.html").exists());

    // A page of the earlier site that is no longer part of it goes; what others put there stays.
    let mine = out.join("mine.txt");
    fs::write(&mine, "mine").unwrap();
    ends(0, &["site", &one, "--out", at]);
    assert!(!out.join("system/ndarray-0.17.2.html").exists() && mine.exists());

    // A page that was changed since stays, and everything else as it was.
    fs::write(out.join(reference), "changed").unwrap();
    complains("found a file that was changed since", &["site", &two, "--out", at]);
    assert_eq!(fs::read_to_string(out.join(reference)).unwrap(), "changed");
    assert!(!out.join("system/ndarray-0.17.2.html").exists());
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn a_directory_of_others_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let [one, _] = reports(directory.path());
    let at = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let others = at("others");
    fs::create_dir(&others).unwrap();
    write(Path::new(&others), "page.html", "mine");
    complains("found a directory with files but no site", &["site", &one, "--out", &others]);
    write(
        Path::new(&others),
        "manifest.json",
        "{\"kit\": \"broadcheck-cases\", \"version\": \"1\", \"files\": []}",
    );
    complains("is not the manifest of a site", &["site", &one, "--out", &others]);
    assert_eq!(fs::read_dir(&others).unwrap().count(), 2);
    complains("one.json: found", &["site", &one, "--out", &one]);
    #[cfg(unix)]
    {
        // A link in the place of a directory of the site is not followed.
        let linked = at("linked");
        fs::create_dir(&linked).unwrap();
        write(
            Path::new(&linked),
            "manifest.json",
            "{\"kit\": \"broadcheck-site\", \"version\": \"1\", \"files\": []}",
        );
        std::os::unix::fs::symlink(&others, Path::new(&linked).join("case")).unwrap();
        complains("found a symbolic link", &["site", &one, "--out", &linked]);
        assert_eq!(fs::read_dir(&others).unwrap().count(), 2);
        assert_eq!(fs::read_dir(&linked).unwrap().count(), 2);
    }
}
