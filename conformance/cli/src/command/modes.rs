//! The modes of `--given`: a list of names, of which `all` is one.

use broadcheck::given::Mode;

/// What one name on the command line stands for.
pub(super) type Modes = &'static [Mode];

/// The modes of a name.
pub(super) fn parse_modes(text: &str) -> Result<Modes, String> {
    if text == "all" {
        return Ok(&Mode::ALL);
    }
    let found: Mode = text.parse().map_err(|_| {
        let names: Vec<&str> = Mode::ALL.iter().map(|mode| mode.name()).collect();
        format!("expected all, or some of {}", names.join(", "))
    })?;
    Ok(Mode::ALL.iter().find(|mode| **mode == found).map_or(&[], std::slice::from_ref))
}

/// The modes of all names, in their order and each once.
pub(super) fn modes(names: &[Modes]) -> Vec<Mode> {
    let is_named = |mode: &Mode| names.iter().any(|modes| modes.contains(mode));
    Mode::ALL.into_iter().filter(is_named).collect()
}
