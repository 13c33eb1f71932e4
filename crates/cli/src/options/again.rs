//! The command line that repeats a run, but for what selects its cases.

use std::path::Path;

/// A command line that is put together flag by flag.
pub(crate) struct Again(String);

impl Again {
    /// `gardener-conformance COMMAND`, with the folder of contracts that it was called with.
    pub(crate) fn new(command: &str, contracts: Option<&Path>) -> Self {
        Self(format!("gardener-conformance {command}")).path("--contracts", contracts)
    }

    /// With a flag and its value.
    pub(crate) fn with(mut self, flag: &str, value: &str) -> Self {
        self.0 = format!("{} {flag} {}", self.0, quoted(value));
        self
    }

    /// With a flag and a path, where there is one.
    pub(crate) fn path(self, flag: &str, path: Option<&Path>) -> Self {
        match path {
            Some(path) => self.with(flag, &path.display().to_string()),
            None => self,
        }
    }

    /// With a flag, if it was set.
    pub(crate) fn flag(mut self, flag: &str, set: bool) -> Self {
        if set {
            self.0 = format!("{} {flag}", self.0);
        }
        self
    }

    /// With a flag and its value where it is another than usual.
    pub(crate) fn unless(self, flag: &str, value: &str, usual: &str) -> Self {
        if value == usual { self } else { self.with(flag, value) }
    }

    /// The line.
    pub(crate) fn line(self) -> String {
        self.0
    }
}

/// As a shell takes it for one word.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        let line = Again::new("verify", Some(Path::new("my contracts")))
            .with("--target", "command=./x --it's <port>")
            .path("--ca", Some(Path::new("ca.crt")))
            .path("--config", None)
            .flag("--insecure", true)
            .flag("--other", false)
            .unless("--settle", "2s", "2s")
            .unless("--time-budget", "2m", "30s")
            .line();
        let want = r"gardener-conformance verify --contracts 'my contracts' --target 'command=./x --it'\''s <port>' --ca ca.crt --insecure --time-budget 2m";
        assert_eq!(line, want);
    }
}
