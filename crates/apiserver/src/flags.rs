//! Flags of programs that serve an API as kube-apiserver does; [`access`] reads those about clients.
//!
//! They are parsed as Kubernetes' programs do: `--flag=value`, `--flag value`, `-v=4`; repeated, `_` for `-`. Unknown flags
//! are collected, not refused.

pub mod access;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr;

/// A flag that a program knows.
#[derive(Debug)]
pub struct KnownFlag {
    /// Its name without dashes: `secure-port`.
    pub name: &'static str,
    /// Whether it has a value.
    pub form: FlagForm,
    /// Its help text; empty if the flag has no effect.
    pub help: &'static str,
}

/// Whether a flag has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagForm {
    /// `--flag value`.
    Value,
    /// `--flag`, or `--flag=false`.
    Switch,
}

/// Reason a program cannot start: an error in a flag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--{flag}: {reason}")]
pub struct FlagError {
    flag: String,
    reason: String,
}

/// The flags of a command line.
#[derive(Debug, Default)]
pub struct GivenFlags {
    known: BTreeMap<&'static str, Vec<String>>,
    without_effect: Vec<&'static str>,
    unknown: Vec<String>,
}

impl FlagError {
    /// An error in a flag.
    #[must_use]
    pub fn new(flag: &str, reason: impl Into<String>) -> Self {
        Self { flag: flag.to_owned(), reason: reason.into() }
    }

    /// An error in a flag's value.
    #[must_use]
    pub fn of_value(flag: &str, value: &str, reason: impl Into<String>) -> Self {
        Self::new(&format!("{flag}={value}"), reason)
    }
}

impl GivenFlags {
    /// Reads a command line.
    ///
    /// # Errors
    /// When a known flag lacks its value.
    pub fn read(known: &'static [KnownFlag], arguments: Vec<String>) -> Result<Self, FlagError> {
        let mut given = Self::default();
        let mut arguments = arguments.into_iter().peekable();
        while let Some(argument) = arguments.next() {
            let Some((name, value)) = split(&argument) else {
                given.unknown.push(argument);
                continue;
            };
            let Some(flag) = known.iter().find(|flag| flag.name == name) else {
                // A following argument that is not a flag counts as its value.
                let follows = value.is_none() && arguments.peek().is_some_and(|next| !next.starts_with('-'));
                let next = if follows { arguments.next() } else { None };
                given
                    .unknown
                    .push(next.map_or_else(|| argument.clone(), |next| format!("{argument} {next}")));
                continue;
            };
            let value = match (value, flag.form) {
                (Some(value), _) => value,
                (None, FlagForm::Switch) => "true".to_owned(),
                (None, FlagForm::Value) => {
                    arguments.next().ok_or_else(|| FlagError::new(flag.name, "needs a value"))?
                }
            };
            given.known.entry(flag.name).or_default().push(value);
            if flag.help.is_empty() && !given.without_effect.contains(&flag.name) {
                given.without_effect.push(flag.name);
            }
        }
        Ok(given)
    }

    /// Given flags that have no effect.
    #[must_use]
    pub fn without_effect(&self) -> &[&'static str] {
        &self.without_effect
    }

    /// Arguments that are not known flags.
    #[must_use]
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Whether a flag was given.
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.known.contains_key(flag)
    }

    /// All values of a flag.
    #[must_use]
    pub fn all(&self, flag: &str) -> &[String] {
        self.known.get(flag).map_or(&[], Vec::as_slice)
    }

    /// All values of a flag, split at commas.
    #[must_use]
    pub fn list(&self, flag: &str) -> Vec<String> {
        let values = self.all(flag).iter().flat_map(|list| list.split(','));
        values.map(str::trim).filter(|value| !value.is_empty()).map(str::to_owned).collect()
    }

    /// The last value of a flag, unless it is empty.
    #[must_use]
    pub fn last(&self, flag: &str) -> Option<&str> {
        self.all(flag).last().map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A switch; `default` if it was not given.
    ///
    /// # Errors
    /// When the value is no boolean.
    pub fn switch(&self, flag: &str, default: bool) -> Result<bool, FlagError> {
        match self.last(flag) {
            None => Ok(default),
            Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
            Some(other) => Err(FlagError::of_value(flag, other, "is neither true nor false")),
        }
    }

    /// A value that is parsed. `expected` describes the values that can be: `a port (0 to 65535)`.
    ///
    /// # Errors
    /// When the value cannot be parsed.
    pub fn parsed<T: FromStr>(&self, flag: &str, expected: &str) -> Result<Option<T>, FlagError> {
        let Some(text) = self.last(flag) else { return Ok(None) };
        let is_not = |_: T::Err| FlagError::of_value(flag, text, format!("is not {expected}"));
        text.parse().map(Some).map_err(is_not)
    }

    /// A port.
    ///
    /// # Errors
    /// When it is none.
    pub fn port(&self, flag: &str) -> Result<Option<u16>, FlagError> {
        self.parsed(flag, "a port (0 to 65535)")
    }

    /// An IP address.
    ///
    /// # Errors
    /// When it is none.
    pub fn address(&self, flag: &str) -> Result<Option<IpAddr>, FlagError> {
        self.parsed(flag, "an IP address, such as 127.0.0.1 or ::1")
    }

    /// The file that a flag names: its path and content.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn file(&self, flag: &str) -> Result<Option<(String, Vec<u8>)>, FlagError> {
        self.last(flag)
            .map(|path| read_file(flag, path).map(|content| (path.to_owned(), content)))
            .transpose()
    }
}

/// The content of a file that a flag names.
///
/// # Errors
/// When the file cannot be read.
pub fn read_file(flag: &str, path: &str) -> Result<Vec<u8>, FlagError> {
    std::fs::read(Path::new(path)).map_err(|error| FlagError::of_value(flag, path, error.to_string()))
}

/// The help of a program: each flag with an effect begins a line, because envtest searches for flags there.
#[must_use]
pub fn help(about: &str, known: &[KnownFlag]) -> String {
    let mut text = format!("{about}\n\nFlags:\n");
    for flag in known.iter().filter(|flag| !flag.help.is_empty()) {
        let value = if flag.form == FlagForm::Value { " VALUE" } else { "" };
        let dashes = if flag.name.len() == 1 { "-" } else { "--" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "      {dashes}{}{value}\n            {}", flag.name, flag.help);
    }
    let without: Vec<String> =
        known.iter().filter(|flag| flag.help.is_empty()).map(|flag| format!("--{}", flag.name)).collect();
    text + &format!(
        "\nAccepted without effect: {}\nOther flags are ignored with a warning.\n",
        without.join(", ")
    )
}

/// Name and value of a flag; absent if the argument is not a flag.
fn split(argument: &str) -> Option<(String, Option<String>)> {
    let (name, value) = match argument.strip_prefix("--") {
        Some("") | None => return short(argument),
        Some(long) => long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value))),
    };
    Some((name.replace('_', "-"), value.map(str::to_owned)))
}

/// `-v=4`, `-v4`, `-v`, `-h`.
fn short(argument: &str) -> Option<(String, Option<String>)> {
    let rest = argument.strip_prefix('-')?;
    let letter = rest.chars().next().filter(char::is_ascii_alphabetic)?;
    let value = rest[1..].trim_start_matches('=');
    Some((letter.to_string(), (!value.is_empty()).then(|| value.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[KnownFlag] = &[
        KnownFlag { name: "secure-port", form: FlagForm::Value, help: "a port" },
        KnownFlag { name: "bind-address", form: FlagForm::Value, help: "an address" },
        KnownFlag { name: "audiences", form: FlagForm::Value, help: "names" },
        KnownFlag { name: "anonymous-auth", form: FlagForm::Switch, help: "whether" },
        KnownFlag { name: "old", form: FlagForm::Value, help: "" },
        KnownFlag { name: "v", form: FlagForm::Value, help: "verbosity" },
    ];

    fn given(arguments: &[&str]) -> GivenFlags {
        GivenFlags::read(KNOWN, arguments.iter().map(|text| (*text).to_owned()).collect()).unwrap()
    }

    #[test]
    fn both_spellings_are_read_and_the_last_value_counts() {
        let table: [&[&str]; 4] = [
            &["--secure-port=1"],
            &["--secure-port", "1"],
            &["--secure_port", "1"],
            &["--secure-port=2", "--secure-port=1"],
        ];
        for arguments in table {
            assert_eq!(given(arguments).port("secure-port"), Ok(Some(1)), "{arguments:?}");
        }
        for arguments in [&["-v=4"][..], &["-v4"], &["-v", "4"], &["--v=4"]] {
            assert_eq!(given(arguments).parsed::<u32>("v", "a number"), Ok(Some(4)), "{arguments:?}");
        }
        let lists = given(&["--audiences", "a,b", "--audiences=c", "--audiences="]);
        assert_eq!(lists.list("audiences"), ["a", "b", "c"]);
    }

    #[test]
    fn a_switch_takes_no_word_after_it() {
        let flags = given(&["--anonymous-auth", "--secure-port=1"]);
        assert_eq!((flags.switch("anonymous-auth", false), flags.has("secure-port")), (Ok(true), true));
        assert_eq!(given(&["--anonymous-auth=false"]).switch("anonymous-auth", true), Ok(false));
        assert_eq!(given(&[]).switch("anonymous-auth", true), Ok(true));
        let wrong = given(&["--anonymous-auth=maybe"]).switch("anonymous-auth", true).unwrap_err();
        assert_eq!(wrong.to_string(), "--anonymous-auth=maybe: is neither true nor false");
    }

    #[test]
    fn unknown_flags_go_with_their_values() {
        let flags =
            given(&["--new", "x", "--newer=y", "word", "--newest", "--secure-port=1", "--old=1", "--old=2"]);
        assert_eq!(flags.unknown(), ["--new x", "--newer=y", "word", "--newest"]);
        assert_eq!(flags.without_effect(), ["old"]);
        assert_eq!(flags.port("secure-port"), Ok(Some(1)));
    }

    #[test]
    fn what_is_wrong_names_its_flag() {
        let lacking = GivenFlags::read(KNOWN, vec!["--secure-port".to_owned()]).unwrap_err();
        assert_eq!(lacking.to_string(), "--secure-port: needs a value");
        for text in ["99999", "abc", "-1", "1.5"] {
            let wrong = given(&[&format!("--secure-port={text}")]).port("secure-port").unwrap_err();
            assert_eq!(wrong.to_string(), format!("--secure-port={text}: is not a port (0 to 65535)"));
        }
        let wrong = given(&["--bind-address=localhost"]).address("bind-address").unwrap_err();
        let text = "--bind-address=localhost: is not an IP address, such as 127.0.0.1 or ::1";
        assert_eq!(wrong.to_string(), text);
        let missing = given(&["--old=/nowhere"]).file("old").unwrap_err();
        assert!(missing.to_string().starts_with("--old=/nowhere: No such file"), "{missing}");
    }

    #[test]
    fn help_has_every_flag_with_an_effect_at_the_start_of_a_line() {
        let text = help("about", KNOWN);
        let has = |flag: &str| text.lines().any(|line| line.trim_start().starts_with(flag));
        assert!(has("--secure-port VALUE") && has("-v VALUE") && !has("--old"), "{text}");
        assert!(text.contains("without effect: --old\n"), "{text}");
    }
}
