//! Edits command lines in place: everything else keeps its wording and position.

use std::borrow::Cow;

use formats::command_line::{Kind, Occurrence, flags, kind, occurrences, places, quoted, unquoted};
use serde_json::{Map, Value};
use webhook::object::{self, WrongType};

/// Separator between the words of a command line that is written to a unit, one flag per line.
const NEW_LINE: &str = " \\\n    ";

/// The words of a command line, and the text before each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    words: Vec<String>,
    before: Vec<String>,
    /// The text after the last word.
    after: String,
    /// The text before a new word.
    separator: &'static str,
    /// How many words belong to a container's `command`; the others are its `args`.
    command: usize,
}

impl CommandLine {
    /// The words of a container: `command`, then `args`.
    ///
    /// # Errors
    /// When either is not a list of strings.
    pub fn of_container(container: &Value) -> Result<Self, WrongType> {
        let command = texts(container, "command")?;
        let args = texts(container, "args")?;
        let (command, words) = (command.len(), [command, args].concat());
        let before = vec![String::new(); words.len()];
        Ok(Self { words, before, after: String::new(), separator: "", command })
    }

    /// The words of a line in a unit, as systemd splits them; quotes stay.
    #[must_use]
    pub fn of_line(line: &str) -> Self {
        let mut found = Self { separator: NEW_LINE, ..Self::default() };
        let mut end = 0;
        for place in places(line) {
            found.before.push(line[end..place.start].to_owned());
            found.words.push(line[place.clone()].to_owned());
            end = place.end;
        }
        line[end..].clone_into(&mut found.after);
        found
    }

    /// Whether the words come from a line in a unit and so may be quoted.
    fn is_line(&self) -> bool {
        !self.separator.is_empty()
    }

    /// The words without quotes.
    fn unquoted_words(&self) -> Cow<'_, [String]> {
        if self.is_line() {
            Cow::Owned(self.words.iter().map(|word| unquoted(word)).collect())
        } else {
            Cow::Borrowed(&self.words)
        }
    }

    /// The line for the unit.
    #[must_use]
    pub fn to_line(&self) -> String {
        let words = self.before.iter().zip(&self.words).flat_map(|(before, word)| [before.as_str(), word]);
        words.chain([self.after.as_str()]).collect()
    }

    /// Writes the words back to their container; a field without words is not added.
    pub fn write(&self, container: &mut Map<String, Value>) {
        let (command, args) = self.words.split_at(self.command);
        for (field, words) in [("command", command), ("args", args)] {
            if !words.is_empty() || container.contains_key(field) {
                container.insert(field.to_owned(), words.iter().cloned().map(Value::from).collect());
            }
        }
    }

    /// The values of a flag; empty if it is not set.
    #[must_use]
    pub fn values(&self, flag: &str) -> Vec<String> {
        flags(&self.unquoted_words()).remove(flag).unwrap_or_default()
    }

    /// Sets a flag to this value only: its first occurrence gets the value, the others are removed.
    pub fn set(&mut self, flag: &str, value: &str) {
        let occurrences = self.occurrences_of(flag);
        if occurrences.len() == 1 && occurrences[0].value == value {
            return;
        }
        for again in occurrences.iter().skip(1).rev() {
            self.remove_words(again);
        }
        self.write_flag(occurrences.first(), flag, value);
    }

    /// Removes a flag.
    pub fn remove(&mut self, flag: &str) {
        for occurrence in self.occurrences_of(flag).iter().rev() {
            self.remove_words(occurrence);
        }
    }

    /// Adds a member to a list flag; the order of the others stays.
    pub fn add_member(&mut self, flag: &str, member: &str) {
        if self.values(flag).iter().any(|known| known == member) {
            return;
        }
        let occurrences = self.occurrences_of(flag);
        let last = occurrences.last();
        let value = match last {
            Some(last) if !last.value.is_empty() => format!("{},{member}", last.value),
            _ => member.to_owned(),
        };
        self.write_flag(last, flag, &value);
    }

    /// Removes a member from a list flag; a flag without members is removed.
    pub fn remove_member(&mut self, flag: &str, member: &str) {
        for occurrence in self.occurrences_of(flag).into_iter().rev() {
            let members: Vec<&str> = occurrence.value.split(',').collect();
            let left: Vec<&str> = members.iter().copied().filter(|known| known.trim() != member).collect();
            if left.is_empty() {
                self.remove_words(&occurrence);
            } else if left.len() < members.len() {
                self.write_flag(Some(&occurrence), flag, &left.join(","));
            }
        }
    }

    /// Sets an entry of a map flag: at the last occurrence of its key, or at the end of the map.
    pub fn set_entry(&mut self, flag: &str, key: &str, value: &str) {
        debug_assert_eq!(kind(flag), Kind::Map);
        let entry = format!("{key}={value}");
        if self.values(flag).contains(&entry) {
            return;
        }
        let occurrences = self.occurrences_of(flag);
        let has_key =
            |occurrence: &&Occurrence| occurrence.value.split(',').any(|known| is_entry_of(known, key));
        let at = occurrences.iter().rfind(has_key).or(occurrences.last());
        let value = match at {
            Some(occurrence) if has_key(&occurrence) => {
                let entry =
                    |known: &str| if is_entry_of(known, key) { entry.clone() } else { known.to_owned() };
                occurrence.value.split(',').map(entry).collect::<Vec<_>>().join(",")
            }
            Some(occurrence) if !occurrence.value.is_empty() => format!("{},{entry}", occurrence.value),
            _ => entry,
        };
        self.write_flag(at, flag, &value);
    }

    fn occurrences_of(&self, flag: &str) -> Vec<Occurrence> {
        occurrences(&self.unquoted_words()).into_iter().filter(|occurrence| occurrence.name == flag).collect()
    }

    /// Writes a flag at the given occurrence, or after all others.
    fn write_flag(&mut self, at: Option<&Occurrence>, flag: &str, value: &str) {
        let word = format!("{flag}={value}");
        let word = if self.is_line() { quoted(&word) } else { word };
        let Some(occurrence) = at else {
            // After `--` there are no flags.
            let at = self.words.iter().position(|word| word == "--").unwrap_or(self.words.len());
            // If the container's flags are in `args`, they get one more; if they are all in `command`, that gets it.
            if at < self.command || self.command == self.words.len() {
                self.command += 1;
            }
            self.words.insert(at, word);
            // The next word gets a separator; the new word takes over the text before it.
            self.before
                .insert(if at == 0 { self.before.len().min(1) } else { at }, self.separator.to_owned());
            return;
        };
        self.words[occurrence.at] = word;
        if occurrence.words > 1 {
            self.remove_word(occurrence.at + 1);
        }
    }

    fn remove_words(&mut self, occurrence: &Occurrence) {
        for at in (occurrence.at..occurrence.at + occurrence.words).rev() {
            self.remove_word(at);
        }
    }

    fn remove_word(&mut self, at: usize) {
        self.words.remove(at);
        self.before.remove(at);
        if at < self.command {
            self.command -= 1;
        }
    }
}

fn is_entry_of(entry: &str, key: &str) -> bool {
    entry.split('=').next().unwrap_or_default().trim() == key
}

fn texts(container: &Value, field: &'static str) -> Result<Vec<String>, WrongType> {
    let items = object::list(container, &[field])?.iter().map(|word| {
        let wrong = || WrongType { path: field.to_owned(), expected: "string", found: "something else" };
        word.as_str().map(str::to_owned).ok_or_else(wrong)
    });
    items.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn edited(container: &Value, edit: impl Fn(&mut CommandLine)) -> Value {
        let mut line = CommandLine::of_container(container).unwrap();
        edit(&mut line);
        let mut container = container.clone();
        line.write(container.as_object_mut().unwrap());
        let again = CommandLine::of_container(&container).unwrap();
        let mut twice = again.clone();
        edit(&mut twice);
        assert_eq!(again, twice, "edited twice is edited once");
        container
    }

    #[test]
    fn a_flag_is_added_next_to_the_others() {
        let table = [
            (
                json!({"command": ["kube-apiserver"], "args": ["--b=c"]}),
                json!({"command": ["kube-apiserver"], "args": ["--b=c", "--a=x"]}),
            ),
            (
                json!({"command": ["kube-apiserver", "--b=c"]}),
                json!({"command": ["kube-apiserver", "--b=c", "--a=x"]}),
            ),
            (
                json!({"command": ["sh", "--a=y", "--b"], "args": ["--a", "z", "d"]}),
                json!({"command": ["sh", "--a=x", "--b"], "args": ["d"]}),
            ),
            (
                json!({"command": ["sh", "--a"], "args": ["y", "--b"]}),
                json!({"command": ["sh", "--a=x"], "args": ["--b"]}),
            ),
            (json!({"name": "x"}), json!({"name": "x", "command": ["--a=x"]})),
        ];
        for (before, after) in table {
            assert_eq!(edited(&before, |line| line.set("--a", "x")), after);
            assert_eq!(edited(&after, |line| line.set("--a", "x")), after);
        }
    }

    #[test]
    fn a_flag_is_removed_with_its_value_and_all_occurrences() {
        let before = json!({"command": ["x", "--a", "b", "--c"], "args": ["--a=d", "--ab=e"]});
        let after = json!({"command": ["x", "--c"], "args": ["--ab=e"]});
        assert_eq!(edited(&before, |line| line.remove("--a")), after);
    }

    #[test]
    fn members_come_and_go() {
        let flag = "--enable-admission-plugins";
        let command_with = |values: &[&str]| {
            let words: Vec<String> = values.iter().map(|value| format!("{flag}={value}")).collect();
            json!({ "command": words })
        };
        for (before, after) in [
            (command_with(&[]), command_with(&["P"])),
            (command_with(&[""]), command_with(&["P"])),
            (command_with(&["Q"]), command_with(&["Q,P"])),
            (command_with(&["Q,P"]), command_with(&["Q,P"])),
            (command_with(&["P", "Q"]), command_with(&["P", "Q"])),
        ] {
            assert_eq!(edited(&before, |line| line.add_member(flag, "P")), after, "{before}");
        }
        for (before, after) in [
            (command_with(&["P"]), json!({"command": []})),
            (command_with(&["Q,P,R"]), command_with(&["Q,R"])),
            (command_with(&["P", "Q", "R,P"]), command_with(&["Q", "R"])),
            (command_with(&["Q"]), command_with(&["Q"])),
        ] {
            assert_eq!(edited(&before, |line| line.remove_member(flag, "P")), after, "{before}");
        }
    }

    #[test]
    fn an_entry_of_a_map_is_set_where_it_counts() {
        let command_with = |values: &[&str]| {
            let words: Vec<String> = values.iter().map(|value| format!("--feature-gates={value}")).collect();
            json!({ "args": words })
        };
        for (before, after) in [
            (command_with(&["A=true"]), command_with(&["A=true"])),
            (command_with(&["A=false,B=true"]), command_with(&["A=true,B=true"])),
            (command_with(&["B=true"]), command_with(&["B=true,A=true"])),
            (
                command_with(&["A=false", "B=true", "A=false", "C=true"]),
                command_with(&["A=false", "B=true", "A=true", "C=true"]),
            ),
        ] {
            assert_eq!(
                edited(&before, |line| line.set_entry("--feature-gates", "A", "true")),
                after,
                "{before}"
            );
        }
    }

    #[test]
    fn a_line_of_a_unit_keeps_how_it_is_written() {
        let text = "/opt/bin/kubelet \\\n    --v=2 --name=\"a  b\" \\\n     $KUBELET_EXTRA_ARGS";
        let mut line = CommandLine::of_line(text);
        assert_eq!(line.to_line(), text);
        line.set("--cloud-provider", "external");
        line.set("--v", "4");
        let after = "/opt/bin/kubelet \\\n    --v=4 --name=\"a  b\" \\\n     $KUBELET_EXTRA_ARGS \\\n    --cloud-provider=external";
        assert_eq!(line.to_line(), after);
        line.remove("--cloud-provider");
        line.set("--v", "2");
        assert_eq!(line.to_line(), text);
    }

    #[test]
    fn case_20_a_quoted_word_goes_and_comes_as_one() {
        let mut line = CommandLine::of_line("/opt/bin/kubelet --cloud-config=\"/etc/cloud dir/c\" --v=2");
        assert_eq!(line.values("--cloud-config"), ["/etc/cloud dir/c"]);
        line.remove("--cloud-config");
        assert_eq!(line.to_line(), "/opt/bin/kubelet --v=2");
        line.set("--v", "a b");
        assert_eq!(line.to_line(), "/opt/bin/kubelet \"--v=a b\"");
        assert_eq!(line.values("--v"), ["a b"]);
        let mut line = CommandLine::of_line("/k --root-dir=/var\\\\");
        line.set("--a", "b");
        assert_eq!(line.to_line(), "/k --root-dir=/var\\\\ \\\n    --a=b");
    }

    #[test]
    fn a_command_that_is_not_a_list_of_strings_is_an_error() {
        for container in [json!({"command": "x"}), json!({"args": [1]})] {
            assert!(CommandLine::of_container(&container).is_err(), "{container}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(text in "\\PC*|[-=$a,\\\\ \n]*") {
            let line = CommandLine::of_line(&text);
            prop_assert_eq!(&line.to_line(), &text);
            // Nothing can be appended after an open quote or a final backslash; systemd rejects such a line.
            prop_assume!(!text.contains(['"', '\'']) && !text.ends_with('\\'));
            let mut edited = line.clone();
            edited.set("--a", "b");
            let read = CommandLine::of_line(&edited.to_line());
            prop_assert_eq!(read.values("--a"), ["b"]);
            let mut again = read.clone();
            again.set("--a", "b");
            prop_assert_eq!(read, again);
        }
    }
}
