//! The built program, run in a folder of its own.

use std::path::Path;
use std::process::{Command, Output};

/// What a call gave.
pub(crate) struct Told {
    /// Exit code; 255 if a signal ended it.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

/// The program in `folder`, without colours and without the environment's say.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gardener-conformance"));
    command.current_dir(folder).env("NO_COLOR", "1").env("XDG_STATE_HOME", folder).env_remove("COLUMNS");
    command
}

/// Runs it with arguments and waits.
pub(crate) fn call(folder: &Path, arguments: &[&str]) -> Told {
    let output = program(folder).args(arguments).output().expect("the program starts");
    told(&output)
}

/// What a finished process told.
pub(crate) fn told(output: &Output) -> Told {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Told { code: output.status.code().unwrap_or(255), out: text(&output.stdout), err: text(&output.stderr) }
}

impl Told {
    /// Fails with everything told unless the code and all words are there.
    pub(crate) fn says(&self, code: i32, words: &[&str]) {
        let all = format!("{}{}", self.out, self.err);
        let missing: Vec<&&str> = words.iter().filter(|word| !all.contains(**word)).collect();
        assert!(
            self.code == code && missing.is_empty(),
            "want exit {code} and {words:?}\ngot exit {}, missing {missing:?}\n{all}",
            self.code
        );
    }
}
