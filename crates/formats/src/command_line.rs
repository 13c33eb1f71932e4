//! Command lines as Kubernetes components parse them: words, and flags with all their values.
//!
//! ```
//! use formats::command_line::{flags, words};
//!
//! let flags = flags(&words("/opt/bin/kubelet --v=2 --config /etc/kubelet --node-labels=a=b,c=d --rotate"));
//! assert_eq!(flags["--config"], ["/etc/kubelet"]);
//! assert_eq!(flags["--node-labels"], ["a=b", "c=d"]);
//! assert_eq!(flags["--rotate"], ["true"]);
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

/// Flags by name (`--secure-port`) with all their values; an absent flag has no entry.
///
/// A list flag has its members in the order of the words; a map flag has `key=value` ordered by key; any other flag has
/// one value per occurrence. The last occurrence counts, unless the flag is [`Kind::Repeated`].
pub type Flags = BTreeMap<String, Vec<String>>;

/// How several occurrences of a flag combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One value: the last one counts.
    Single,
    /// Every occurrence adds one value.
    Repeated,
    /// Members separated by commas, collected from all occurrences.
    List,
    /// `key=value` pairs separated by commas; the last value of a key counts.
    Map,
}

/// Flags that may occur several times with one value each. The value may contain commas.
const REPEATED: [&str; 4] =
    ["--oidc-required-claim", "--service-account-issuer", "--service-account-key-file", "--tls-sni-cert-key"];
/// Flags whose members have no order.
const LISTS: [&str; 10] = [
    "--api-audiences",
    "--controllers",
    "--disable-admission-plugins",
    "--enable-admission-plugins",
    "--enforce-node-allocatable",
    "--eviction-hard",
    "--eviction-soft",
    "--oidc-signing-algs",
    "--tls-cipher-suites",
    "--watch-cache-sizes",
];
/// Flags whose value is a map.
const MAPS: [&str; 6] = [
    "--feature-gates",
    "--kube-reserved",
    "--node-labels",
    "--runtime-config",
    "--system-reserved",
    "--vmodule",
];

/// The kind of a flag of kube-apiserver, kube-controller-manager, kube-scheduler or kubelet. Lists whose order is
/// significant (`--authorization-mode`) are single values.
#[must_use]
pub fn kind(flag: &str) -> Kind {
    if REPEATED.contains(&flag) {
        Kind::Repeated
    } else if LISTS.contains(&flag) {
        Kind::List
    } else if MAPS.contains(&flag) {
        Kind::Map
    } else {
        Kind::Single
    }
}

/// Splits a command line into words as systemd does: at whitespace and line continuations outside quotes. Quotes are
/// removed, and so is a backslash before a quote, a blank or another backslash.
#[must_use]
pub fn words(line: &str) -> Vec<String> {
    places(line).into_iter().map(|place| unquoted(&line[place])).collect()
}

/// The byte ranges of the words of a line, quotes included.
#[must_use]
pub fn places(line: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let continued = letter == '\\' && letters.peek().is_some_and(|(_, next)| *next == '\n');
        let parts = quote.is_none() && (letter.is_whitespace() || continued);
        match (parts, start) {
            (true, Some(from)) => {
                places.push(from..at);
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
        match letter {
            '\\' if !continued => drop(letters.next()),
            '"' | '\'' if quote.is_none() => quote = Some(letter),
            letter if quote == Some(letter) => quote = None,
            _ => {}
        }
    }
    places.extend(start.map(|from| from..line.len()));
    places
}

/// The text of a word without its quotes and escapes.
#[must_use]
pub fn unquoted(word: &str) -> String {
    let word = word.replace("\\\n", " ");
    let mut text = String::new();
    let mut quote = None;
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek().is_some_and(|next| "\"'\\ ".contains(*next)) => {
                text.extend(letters.next());
            }
            '"' | '\'' if quote.is_none() => quote = Some(letter),
            letter if quote == Some(letter) => quote = None,
            letter => text.push(letter),
        }
    }
    text
}

/// The word that systemd reads as `text`, quoted if necessary.
#[must_use]
pub fn quoted(text: &str) -> String {
    if !text.contains(|letter: char| letter.is_whitespace() || "\"'\\".contains(letter)) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The flags among `words`; other words (the program, a variable) are ignored.
#[must_use]
pub fn flags(words: &[impl AsRef<str>]) -> Flags {
    let mut flags = Flags::new();
    for flag in occurrences(words) {
        let values = flags.entry(flag.name).or_default();
        values.push(flag.value);
    }
    for (name, values) in &mut flags {
        match kind(name) {
            Kind::Single | Kind::Repeated => {}
            Kind::List => *values = members(values),
            Kind::Map => *values = by_key(&members(values)),
        }
    }
    flags
}

/// One occurrence of a flag in a list of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Its name with two hyphens, `--secure-port`.
    pub name: String,
    /// Its value; `true` for a flag without a value.
    pub value: String,
    /// Index of its first word.
    pub at: usize,
    /// Number of words it occupies: 2 if the value is a separate word.
    pub words: usize,
}

/// Finds every flag, in the order of the words.
///
/// A name without `=` takes the next word as its value. If that word is a flag itself, or a variable that systemd
/// expands to any number of words (`$NAME`), the value is `true`. As in the components, an underscore in a name is a
/// hyphen, and `-v` is `--v`. `--` ends the flags.
#[must_use]
pub fn occurrences(words: &[impl AsRef<str>]) -> Vec<Occurrence> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at).map(AsRef::as_ref) {
        if word == "--" {
            break;
        }
        let mut taken = 1;
        if let Some(name) = flag_name(word) {
            let (name, value) = match word.split_once('=') {
                Some((_, value)) => (name, value.to_owned()),
                None => match words.get(at + 1).map(AsRef::as_ref).filter(|next| is_value(next)) {
                    Some(next) => {
                        taken = 2;
                        (name, next.to_owned())
                    }
                    None => (name, "true".to_owned()),
                },
            };
            found.push(Occurrence { name, value, at, words: taken });
        }
        at += taken;
    }
    found
}

/// The name of the flag in a word, with two hyphens.
fn flag_name(word: &str) -> Option<String> {
    let written = word.split('=').next().unwrap_or_default();
    if written == "-v" {
        return Some("--v".to_owned());
    }
    let bare = written.strip_prefix("--").filter(|bare| !bare.is_empty() && !bare.starts_with('-'))?;
    Some(format!("--{}", bare.replace('_', "-")))
}

/// Whether a word after a flag is its value.
fn is_value(word: &str) -> bool {
    let negative =
        || word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
    let expands = || word.starts_with('$') && !word.starts_with("${");
    !word.is_empty() && (!word.starts_with('-') || negative()) && !expands()
}

/// The members between commas, in order, duplicates included.
fn members(values: &[String]) -> Vec<String> {
    let members = values.iter().flat_map(|value| value.split(','));
    members.map(str::trim).filter(|member| !member.is_empty()).map(str::to_owned).collect()
}

/// The `key=value` members of a map flag, ordered by key; the last value of a key counts.
fn by_key(members: &[String]) -> Vec<String> {
    let entry = |member: &String| {
        let (key, value) = member.split_once('=').unwrap_or((member, "true"));
        (key.trim().to_owned(), value.trim().to_owned())
    };
    let entries: BTreeMap<String, String> = members.iter().map(entry).collect();
    entries.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse_flags(line: &str) -> Vec<(String, Vec<String>)> {
        flags(&words(line)).into_iter().collect()
    }

    type ExpectedFlags<'a> = &'a [(&'a str, &'a [&'a str])];

    fn expected(flags: ExpectedFlags) -> Vec<(String, Vec<String>)> {
        let owned = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        flags.iter().map(|(name, values)| ((*name).to_owned(), owned(values))).collect()
    }

    #[test]
    fn every_form_of_a_flag_is_read() {
        let table: [(&str, ExpectedFlags); 12] = [
            ("kubelet --a=b", &[("--a", &["b"])]),
            ("kubelet --a b c", &[("--a", &["b"])]),
            ("kubelet --a --b", &[("--a", &["true"]), ("--b", &["true"])]),
            ("kubelet --a=", &[("--a", &[""])]),
            ("kubelet --a=b=c --a d", &[("--a", &["b=c", "d"])]),
            ("kubelet --a -1", &[("--a", &["-1"])]),
            ("kubelet -v 4 --v=2", &[("--v", &["4", "2"])]),
            ("kubelet --max_pods=110", &[("--max-pods", &["110"])]),
            ("kubelet --a -- --b", &[("--a", &["true"])]),
            ("kubelet --a $KUBELET_EXTRA_ARGS", &[("--a", &["true"])]),
            ("kubelet --a ${ADDRESS}", &[("--a", &["${ADDRESS}"])]),
            ("kubelet - --- a=b -x", &[]),
        ];
        for (line, flags) in table {
            assert_eq!(parse_flags(line), expected(flags), "{line}");
        }
    }

    #[test]
    fn lists_and_maps_are_split_into_members() {
        let line = "x --feature-gates=B=true,A=false --feature-gates A=true --enable-admission-plugins=P,Q, \
                    --enable-admission-plugins=R --node-labels=k --authorization-mode=Node,RBAC \
                    --tls-sni-cert-key=a,b:*.c --tls-sni-cert-key=d,e";
        let flags: [(&str, &[&str]); 5] = [
            ("--authorization-mode", &["Node,RBAC"]),
            ("--enable-admission-plugins", &["P", "Q", "R"]),
            ("--feature-gates", &["A=true", "B=true"]),
            ("--node-labels", &["k=true"]),
            ("--tls-sni-cert-key", &["a,b:*.c", "d,e"]),
        ];
        assert_eq!(parse_flags(line), expected(&flags));
    }

    #[test]
    fn case_20_a_quoted_word_is_one_word() {
        let table: [(&str, &[&str]); 8] = [
            ("k --c=\"/etc/cloud dir/c\" --v=2", &["k", "--c=/etc/cloud dir/c", "--v=2"]),
            ("k 'a \"b' \"c 'd\"", &["k", "a \"b", "c 'd"]),
            ("k a\\ b \\\"c", &["k", "a b", "\"c"]),
            ("k --root=/var\\\\", &["k", "--root=/var\\"]),
            ("k --root=/var\\\\ \\\n  --a", &["k", "--root=/var\\", "--a"]),
            ("k \"a \\\n b\"", &["k", "a   b"]),
            ("k \"open", &["k", "open"]),
            ("", &[]),
        ];
        for (line, want) in table {
            assert_eq!(words(line), want, "{line}");
        }
        for text in ["a", "a b", "a\"b", "a\\", "'", "a\\ \"b"] {
            assert_eq!(words(&quoted(text)), [text], "{text}");
        }
    }

    #[test]
    fn words_are_separated_by_blanks_and_continued_lines() {
        let line = "/opt/bin/kubelet \\\n    --a=b \\\n    --c \\\n $EXTRA";
        assert_eq!(words(line), ["/opt/bin/kubelet", "--a=b", "--c", "$EXTRA"]);
        assert_eq!(words(" \\\n"), Vec::<String>::new());
    }

    #[test]
    fn an_occurrence_has_the_position_and_number_of_its_words() {
        let found = occurrences(&["", "--a", "b", "c", "--d=e"]);
        let positions: Vec<_> = found.iter().map(|flag| (flag.name.as_str(), flag.at, flag.words)).collect();
        assert_eq!(positions, [("--a", 1, 2), ("--d", 4, 1)]);
    }

    proptest! {
        #[test]
        fn any_line_is_parsed(line in "\\PC*|[-=$ {}v,a\\\\\n]*") {
            let words = words(&line);
            for flag in occurrences(&words) {
                prop_assert!(flag.name.starts_with("--") && flag.at + flag.words <= words.len());
            }
            prop_assert!(flags(&words).values().flatten().all(|value| !value.contains('\n')));
        }

        #[test]
        fn both_forms_of_a_value_are_equal(flags in prop::collection::vec(("[a-z]{1,4}", "[a-z0-9]{1,3}"), 0..6)) {
            let with_sign: Vec<String> = flags.iter().map(|(name, value)| format!("--{name}={value}")).collect();
            let separate: Vec<String> =
                flags.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]).collect();
            prop_assert_eq!(super::flags(&with_sign), super::flags(&separate));
        }
    }
}
