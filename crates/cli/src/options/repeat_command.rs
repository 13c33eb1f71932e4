//! The command line that repeats a run, without the flags that select cases.

use std::path::Path;

use schema::KubernetesVersion;

/// A builder of a command line.
pub(crate) struct RepeatCommand(String);

impl RepeatCommand {
    /// `gardener-conformance COMMAND`, with `--contracts` if the user gave it.
    pub(crate) fn new(command: &str, contracts: Option<&Path>) -> Self {
        Self(format!("gardener-conformance {command}")).path("--contracts", contracts)
    }

    /// Adds a flag with a value.
    pub(crate) fn with(mut self, flag: &str, value: &str) -> Self {
        self.0 = format!("{} {flag} {}", self.0, shell_quote(value));
        self
    }

    /// Adds a flag with a path, if there is one.
    pub(crate) fn path(self, flag: &str, path: Option<&Path>) -> Self {
        match path {
            Some(path) => self.with(flag, &path.display().to_string()),
            None => self,
        }
    }

    /// Adds a flag with a version, if there is one.
    pub(crate) fn version(self, flag: &str, version: Option<KubernetesVersion>) -> Self {
        match version {
            Some(version) => self.with(flag, &version.to_string()),
            None => self,
        }
    }

    /// Adds a flag without a value, if it is set.
    pub(crate) fn flag(mut self, flag: &str, set: bool) -> Self {
        if set {
            self.0 = format!("{} {flag}", self.0);
        }
        self
    }

    /// Adds a flag with a value, unless the value is the default.
    pub(crate) fn unless_default(self, flag: &str, value: &str, default: &str) -> Self {
        if value == default { self } else { self.with(flag, value) }
    }

    /// Returns the command line.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Quotes a word for a shell, if it needs quotes.
fn shell_quote(word: &str) -> String {
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
    fn words_that_a_shell_would_split_are_quoted() {
        let line = RepeatCommand::new("verify", Some(Path::new("my contracts")))
            .with("--target", "command=./x --it's <port>")
            .path("--ca", Some(Path::new("ca.crt")))
            .path("--config", None)
            .flag("--insecure", true)
            .flag("--other", false)
            .unless_default("--settle", "2s", "2s")
            .unless_default("--time-budget", "2m", "30s")
            .into_string();
        let want = r"gardener-conformance verify --contracts 'my contracts' --target 'command=./x --it'\''s <port>' --ca ca.crt --insecure --time-budget 2m";
        assert_eq!(line, want);
    }
}
