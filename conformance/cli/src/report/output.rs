//! Writes reports to files. Only reports are overwritten, and no file is left half-written.

use super::{Report, badge, html, json, junit, markdown, text};
use broadcheck::files;
use broadcheck_spec::Suite;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The width of a text report in a file.
const FILE_WIDTH: usize = 110;

/// A format of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Format {
    /// Tables and failures for a terminal
    Text,
    /// JSON for programs, described by conformance/schema/report.schema.json
    Json,
    /// JUnit XML, for continuous integration
    Junit,
    /// Markdown for a README or a pull request
    Markdown,
    /// A page with a matrix, all cases, drawings and filters
    Html,
    /// An SVG image per implementation, for a README
    Badge,
}

impl Format {
    /// The names of the files in a directory: one badge per implementation, or one report.
    fn file_names(self, implementations: &[&str]) -> Vec<String> {
        let name = match self {
            Format::Text => "report.txt",
            Format::Json => "report.json",
            Format::Junit => "report.junit.xml",
            Format::Markdown => "report.md",
            Format::Html => "report.html",
            Format::Badge => return badge::file_names(implementations.iter().copied()),
        };
        vec![name.into()]
    }

    /// The number of files.
    fn file_count(self, implementations: usize) -> usize {
        if self == Format::Badge { implementations } else { 1 }
    }

    /// The content of a file of this format, without colours. `suite` contains the cases of the report.
    /// `place` is the index of the implementation, if there is a file for each.
    pub fn render(self, report: &Report, suite: &Suite, place: usize) -> String {
        match self {
            Format::Text => anstream::adapter::strip_str(&text::render(report, FILE_WIDTH)).to_string(),
            Format::Json => json::render(report),
            Format::Junit => junit::render(report),
            Format::Markdown => markdown::render(report),
            Format::Html => html::render(report, suite),
            Format::Badge => report.runs.get(place).map(badge::render).unwrap_or_default(),
        }
    }

    fn is_report(self, content: &str) -> bool {
        match self {
            Format::Text => text::is_report(content),
            Format::Json => json::is_report(content),
            Format::Junit => junit::is_report(content),
            Format::Markdown => content.starts_with(markdown::MARKER),
            Format::Html => content.starts_with(html::MARKER),
            Format::Badge => content.starts_with(badge::MARKER),
        }
    }
}

/// A file for a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its format.
    pub format: Format,
    /// The index of the implementation, if there is a file for each.
    pub place: usize,
    /// The path of the file.
    pub path: PathBuf,
}

/// The files that a command writes its reports to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The files.
    pub files: Vec<Target>,
}

/// Whether these formats need more than one file, and so a directory.
pub fn need_directory(formats: &[Format], implementations: usize) -> bool {
    formats.iter().map(|format| format.file_count(implementations)).sum::<usize>() > 1
}

impl Destination {
    /// The files for these formats and implementations. A single file is `out` itself, unless that is a
    /// directory. Several files have fixed names in the directory `out`, which is created if missing.
    ///
    /// # Errors
    /// A file exists that is not a report of its format, or a file cannot be written.
    pub fn new(formats: &[Format], implementations: &[&str], out: &Path) -> Result<Destination, String> {
        let several = need_directory(formats, implementations.len());
        if several {
            fs::create_dir_all(out).map_err(|error| {
                format!("{}: {error}, expected a directory for several reports", out.display())
            })?;
        }
        let inside = several || out.is_dir();
        let mut files = Vec::new();
        for &format in formats {
            for (place, name) in format.file_names(implementations).iter().enumerate() {
                let path = if inside { out.join(name) } else { out.to_owned() };
                may_write(&path, |content| format.is_report(content))?;
                files.push(Target { format, place, path });
            }
        }
        Ok(Destination { files })
    }

    /// Writes every report.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, report: &Report, suite: &Suite) -> Result<(), String> {
        for Target { format, place, path } in &self.files {
            write(path, &format.render(report, suite, *place), |content| format.is_report(content))?;
        }
        Ok(())
    }
}

/// Writes a new file, or replaces one that is empty or that `is_ours` accepts.
///
/// # Errors
/// The file is something else, or cannot be written.
pub fn write(path: &Path, content: &str, is_ours: impl Fn(&str) -> bool) -> Result<(), String> {
    may_write(path, is_ours)?;
    files::replace(&resolved(path)?, content.as_bytes())
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Follows a symbolic link, so that its target is written and the link stays.
fn resolved(path: &Path) -> Result<PathBuf, String> {
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|error| {
        let name = path.display();
        format!("{name}: found a broken symbolic link ({error}), expected a file or none")
    })
}

/// Checks that a file is missing, empty or accepted by `is_ours`.
///
/// # Errors
/// The file is something else, or its directory is missing.
pub fn may_write(path: &Path, is_ours: impl Fn(&str) -> bool) -> Result<(), String> {
    let name = path.display();
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return resolved(path).and_then(|path| parent_exists(&path));
        }
        Err(error) => return Err(format!("{name}: {error}")),
    };
    if !metadata.is_file() {
        return Err(format!("{name}: found something other than a regular file, expected a file or none"));
    }
    let mut content = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(1 << 28).read_to_end(&mut content));
    read.map_err(|error| format!("{name}: {error}"))?;
    let ours = String::from_utf8(content).is_ok_and(|text| text.is_empty() || is_ours(&text));
    if ours {
        return Ok(());
    }
    Err(format!(
        "{name}: found a file that is not a report of this format, which is not overwritten, expected another --out"
    ))
}

fn parent_exists(path: &Path) -> Result<(), String> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match fs::metadata(parent) {
        Ok(found) if found.is_dir() && path.file_name().is_some() => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", parent.display()))
        }
        _ => Err(format!("{}: the directory {} does not exist", path.display(), parent.display())),
    }
}
