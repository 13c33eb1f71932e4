//! Runs the built program in its own folder.

use std::path::Path;
use std::process::{Command, Output};

/// The result of a call.
pub(crate) struct CallResult {
    /// Exit code; 255 if a signal ended it.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

/// The program in `folder`, without colours and independent of the environment.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gardener-conformance"));
    command.current_dir(folder).env("NO_COLOR", "1").env("XDG_STATE_HOME", folder).env_remove("COLUMNS");
    command
}

/// Runs the program with arguments and waits for its end.
pub(crate) fn call(folder: &Path, arguments: &[&str]) -> CallResult {
    let output = program(folder).args(arguments).output().expect("the program starts");
    result_of(&output)
}

/// The result of a finished process.
pub(crate) fn result_of(output: &Output) -> CallResult {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CallResult {
        code: output.status.code().unwrap_or(255),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

impl CallResult {
    /// Fails, and shows the output, unless the exit code is `code` and the output contains all `texts`.
    pub(crate) fn assert_exit(&self, code: i32, texts: &[&str]) {
        let all = format!("{}{}", self.out, self.err);
        let missing: Vec<&&str> = texts.iter().filter(|text| !all.contains(**text)).collect();
        assert!(
            self.code == code && missing.is_empty(),
            "want exit {code} and {texts:?}\ngot exit {}, missing {missing:?}\n{all}",
            self.code
        );
    }
}
