//! Reports in files: a file that is no report of ours is never overwritten, and none is ever half-written.

use super::{Report, json, markdown, text};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The width of a report in text that goes to a file.
const FILE_WIDTH: usize = 110;

/// A face of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Format {
    /// Tables and failures to read in a terminal.
    Text,
    /// For programs.
    Json,
    /// For a pull request.
    Markdown,
}

impl Format {
    /// The file's name where several reports go to one directory.
    pub fn file_name(self) -> &'static str {
        match self {
            Format::Text => "report.txt",
            Format::Json => "report.json",
            Format::Markdown => "report.md",
        }
    }

    /// The report in this format, without colours.
    pub fn render(self, report: &Report) -> String {
        match self {
            Format::Text => anstream::adapter::strip_str(&text::render(report, FILE_WIDTH)).to_string(),
            Format::Json => json::render(report),
            Format::Markdown => markdown::render(report),
        }
    }

    fn is_report(self, content: &str) -> bool {
        match self {
            Format::Text => text::is_report(content),
            Format::Json => json::is_report(content),
            Format::Markdown => content.starts_with(markdown::MARKER),
        }
    }
}

/// Where reports go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The format and the file of each report.
    pub files: Vec<(Format, PathBuf)>,
}

impl Destination {
    /// The files for these formats: with one format `out` itself unless it is a directory, else files of fixed
    /// names in the directory `out`, which is made where it is missing.
    ///
    /// # Errors
    /// A sentence, where a file is in the way that is no report of this format, or cannot be written.
    pub fn new(formats: &[Format], out: &Path) -> Result<Destination, String> {
        let inside = formats.len() > 1 || out.is_dir();
        if formats.len() > 1 {
            fs::create_dir_all(out).map_err(|error| {
                format!("{}: {error}: expected a directory for several reports", out.display())
            })?;
        }
        let path = |format: &Format| if inside { out.join(format.file_name()) } else { out.to_owned() };
        let files: Vec<(Format, PathBuf)> = formats.iter().map(|format| (*format, path(format))).collect();
        for (format, path) in &files {
            may_write(*format, path)?;
        }
        Ok(Destination { files })
    }

    /// Writes every report.
    ///
    /// # Errors
    /// A sentence with the file.
    pub fn write(&self, report: &Report) -> Result<(), String> {
        for (format, path) in &self.files {
            may_write(*format, path)?;
            replace(path, &format.render(report)).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
}

/// Whether a file is missing, empty, or a report of this format.
fn may_write(format: Format, path: &Path) -> Result<(), String> {
    let name = path.display();
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return parent_exists(path),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    if !metadata.is_file() {
        return Err(format!("{name}: found something that is no regular file, expected a file or none"));
    }
    let mut content = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(1 << 28).read_to_end(&mut content));
    read.map_err(|error| format!("{name}: {error}"))?;
    let ours = String::from_utf8(content).is_ok_and(|text| text.is_empty() || format.is_report(&text));
    if ours {
        return Ok(());
    }
    Err(format!(
        "{name}: found a file that is no report of this format: it is left as it is; choose another --out"
    ))
}

fn parent_exists(path: &Path) -> Result<(), String> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.is_dir() && path.file_name().is_some() {
        return Ok(());
    }
    Err(format!("{}: the directory {} does not exist", path.display(), parent.display()))
}

/// Writes a new file beside the old one and puts it in its place.
fn replace(path: &Path, content: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = fs::OpenOptions::new().write(true).create_new(true).open(&draft).and_then(|mut file| {
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)
    });
    if written.is_err() {
        // Whatever went wrong is told; that the draft could not be taken away again adds nothing.
        let _ = fs::remove_file(&draft);
    }
    written
}
