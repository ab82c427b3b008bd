//! The SIMD levels, of which one is chosen at run time or by the environment.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// The instructions that kernels may use. Every level gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The instructions of the compilation target. Every machine has them.
    Portable,
    /// x86-64 with AVX2, FMA and F16C.
    Avx2,
    /// x86-64 with AVX-512 (F, BW, DQ, VL).
    Avx512,
}

impl Level {
    /// Every level, with the widest last.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512];

    /// The name on the command line, as in `fast@avx2`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// The bytes of a vector. A machine that is not x86-64 has vectors of 16 bytes, if it has any.
    pub(crate) fn vector_bytes(self) -> usize {
        match self {
            Level::Portable => 16,
            Level::Avx2 => 32,
            Level::Avx512 => 64,
        }
    }

    /// Whether this machine has the level.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => {
                Level::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Level::Avx2 | Level::Avx512 => false,
        }
    }

    /// The levels that this machine has.
    pub fn available() -> impl Iterator<Item = Level> {
        Level::ALL.into_iter().filter(|level| level.is_available())
    }

    /// The level in the environment variable `BROADCHECK_SIMD`, or `None` if that is not set or empty.
    ///
    /// # Errors
    /// [`UnknownLevel`], if it does not name a level.
    pub fn requested() -> Result<Option<Level>, UnknownLevel> {
        match std::env::var_os("BROADCHECK_SIMD") {
            Some(name) if !name.is_empty() => name.to_string_lossy().parse().map(Some),
            _ => Ok(None),
        }
    }

    /// The level of [`Level::requested`], or the widest that this machine has. An unknown name, or a level
    /// that the machine lacks, is ignored, because only speed depends on the level. A program that wants to
    /// warn its user can check [`Level::requested`] and [`Level::is_available`]. The environment is read once
    /// per process.
    pub fn detect() -> Level {
        static DETECTED: LazyLock<Level> = LazyLock::new(|| {
            let named = Level::requested().ok().flatten().filter(|level| level.is_available());
            named.or_else(|| Level::available().last()).unwrap_or(Level::Portable)
        });
        *DETECTED
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not a level's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownLevel(pub String);

impl fmt::Display for UnknownLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a SIMD level, expected one of: {}",
            self.0,
            Level::ALL.map(Level::name).join(" ")
        )
    }
}

impl std::error::Error for UnknownLevel {}

impl FromStr for Level {
    type Err = UnknownLevel;
    fn from_str(name: &str) -> Result<Level, UnknownLevel> {
        Level::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}
