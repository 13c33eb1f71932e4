//! Reads callgrind's output: which functions of a program ran.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The functions that ran.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// The path of the program; `None` if none of its functions ran.
    pub(super) binary: Option<PathBuf>,
    /// The symbols of the functions.
    pub(super) ran: BTreeSet<String>,
}

impl Profile {
    /// Reads the functions of all objects with this file name.
    pub(super) fn parse(text: &str, program: &str) -> Self {
        let mut profile = Self::default();
        let mut ours = false;
        for line in text.lines() {
            if let Some(object) = line.strip_prefix("ob=") {
                let object = Path::new(object);
                let is_program = object.file_name().is_some_and(|name| name == program);
                if is_program {
                    profile.binary = Some(object.to_owned());
                }
                // callgrind does not know the object of functions in a section that an earlier layout created.
                ours = is_program || object == Path::new("???");
            } else if let Some(name) = line.strip_prefix("fn=").filter(|_| ours) {
                // The recursion depth follows an apostrophe.
                profile.ran.extend(name.split('\'').next().map(ToOwned::to_owned));
            }
        }
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_functions_of_the_program_are_read() {
        let text =
            "ob=/usr/lib/libc.so.6\nfn=memcpy\nob=/tmp/gardener-x\nfn=_RNvC1a1b'2\nob=???\nfn=mi_free\n";
        let profile = Profile::parse(text, "gardener-x");
        assert_eq!(profile.binary, Some(PathBuf::from("/tmp/gardener-x")));
        assert_eq!(profile.ran.into_iter().collect::<Vec<_>>(), ["_RNvC1a1b", "mi_free"]);
    }
}
