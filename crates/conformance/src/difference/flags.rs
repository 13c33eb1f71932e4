//! Command lines: flags by name, comma-separated values by member.

use formats::command_line::{Occurrence, occurrences};

use super::{EditKind, Edits, lists};

/// Whether a list of words has flags.
pub(super) fn is_command_line(words: &[String]) -> bool {
    words.iter().any(|word| word.starts_with("--") && word.len() > 2)
}

pub(super) fn collect(edits: &mut Edits, a: &[String], b: &[String]) {
    let before = edits.edits.len();
    let (a, b) = (CommandLine::of(a), CommandLine::of(b));
    lists::sequence(edits, &a.others, &b.others);
    let mut names: Vec<&str> = Vec::new();
    for (flag, _) in a.flags.iter().chain(&b.flags) {
        if !names.contains(&flag.name.as_str()) {
            names.push(&flag.name);
        }
    }
    for name in names {
        one(edits, name, &a.of_name(name), &b.of_name(name));
    }
    if edits.edits.len() == before && a.words() != b.words() {
        edits.add(None, EditKind::Reordered);
    }
}

/// Flags with their words, and the words that belong to no flag.
struct CommandLine {
    flags: Vec<(Occurrence, String)>,
    others: Vec<String>,
}

impl CommandLine {
    fn of(words: &[String]) -> Self {
        let mut others = words.to_vec();
        let mut flags = Vec::new();
        for flag in occurrences(words).into_iter().rev() {
            let text: Vec<String> = others.drain(flag.at..flag.at + flag.words).collect();
            flags.insert(0, (flag, text.join(" ")));
        }
        Self { flags, others }
    }

    fn of_name(&self, name: &str) -> Vec<&(Occurrence, String)> {
        self.flags.iter().filter(|(flag, _)| flag.name == name).collect()
    }

    /// The flags in their notation, in order.
    fn words(&self) -> Vec<&str> {
        self.flags.iter().map(|(_, text)| text.as_str()).collect()
    }
}

/// The differences of one flag.
fn one(edits: &mut Edits, name: &str, a: &[&(Occurrence, String)], b: &[&(Occurrence, String)]) {
    let values = |flags: &[&(Occurrence, String)]| -> Vec<String> {
        flags.iter().map(|(flag, _)| flag.value.clone()).collect()
    };
    let (before, after) = (values(a), values(b));
    if before == after {
        return;
    }
    if let ([before], [after]) = (before.as_slice(), after.as_slice()) {
        return value(edits, name, before, after);
    }
    let count = |list: &[String], value: &String| list.iter().filter(|other| *other == value).count();
    for (flag, text) in a {
        if count(&after, &flag.value) == 0 {
            edits.add(None, EditKind::Gone(text.clone()));
        }
    }
    let mut seen = Vec::new();
    for (flag, text) in b.iter().filter(|(flag, _)| count(&after, &flag.value) > count(&before, &flag.value))
    {
        if seen.contains(&&flag.value) {
            continue;
        }
        seen.push(&flag.value);
        let times = count(&after, &flag.value);
        let kind = if times > 1 {
            EditKind::Repeated { member: text.clone(), times }
        } else {
            EditKind::Added(text.clone())
        };
        edits.add(None, kind);
    }
    for (flag, text) in a {
        if (1..count(&before, &flag.value)).contains(&count(&after, &flag.value))
            && !seen.contains(&&flag.value)
        {
            seen.push(&flag.value);
            edits.add(None, EditKind::Gone(format!("one of several {text}")));
        }
    }
    if before.len() == after.len() && seen.is_empty() && before.iter().all(|value| after.contains(value)) {
        edits.add(Some(name), EditKind::Reordered);
    }
}

/// The differences of a flag's value: of its members, if it has some that both have.
fn value(edits: &mut Edits, name: &str, before: &str, after: &str) {
    let members =
        |text: &str| -> Vec<String> { text.split(',').map(|part| part.trim().to_owned()).collect() };
    let (a, b) = (members(before), members(after));
    let is_list = a.len() > 1 || b.len() > 1;
    let key = |member: &str| member.split_once('=').map(|(key, _)| key.to_owned());
    let is_shared = |member: &String| {
        b.contains(member)
            || key(member).is_some_and(|of| b.iter().any(|other| key(other).as_ref() == Some(&of)))
    };
    if !is_list || !a.iter().any(is_shared) {
        let (before, after) = (before.to_owned(), after.to_owned());
        return edits.add(Some(name), EditKind::Changed { before, after });
    }
    edits.within(name, |edits| {
        let mut changed = Vec::new();
        for member in a.iter().filter(|member| !b.contains(member)) {
            let same_key =
                |other: &&String| !a.contains(other) && key(other).is_some() && key(other) == key(member);
            match b.iter().find(same_key) {
                Some(other) => {
                    changed.push(other);
                    let value = |text: &String| text.split_once('=').map(|(_, value)| value.to_owned());
                    let (before, after) =
                        (value(member).unwrap_or_default(), value(other).unwrap_or_default());
                    edits.add(key(member).as_deref(), EditKind::Changed { before, after });
                }
                None => edits.add(None, EditKind::Gone(member.clone())),
            }
        }
        let count = |list: &[String], member: &String| list.iter().filter(|other| *other == member).count();
        let mut seen: Vec<&String> = Vec::new();
        for member in b.iter().filter(|member| count(&b, member) > count(&a, member)) {
            if !changed.contains(&member) && !seen.contains(&member) {
                seen.push(member);
                edits.add(None, lists::added(member, &a, &b));
            }
        }
        if changed.is_empty()
            && seen.is_empty()
            && a.len() == b.len()
            && a.iter().all(|member| b.contains(member))
        {
            edits.add(None, EditKind::Reordered);
        }
    });
}
