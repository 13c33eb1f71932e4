//! Tables of flags, and the changes of a command line that no row of the table explains.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::expect::{self, Notation, Path, Rules, Step, is_like, same};

/// The command line of a contract of the form flags, and the rows of its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagTable {
    /// The command line.
    pub line: CommandLine,
    /// Its rows, in order.
    pub rows: Vec<FlagRow>,
}

/// The location of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// `command` and `args` of this container of a pod template.
    Container(String),
    /// `ExecStart` of this unit of an OperatingSystemConfig.
    Unit(String),
}

/// A row: a flag, its clause, and the changes that it explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagRow {
    /// Its clause.
    pub clause: String,
    /// `--secure-port`; `*` matches any letters.
    pub flag: String,
    /// Which changes it explains.
    pub explains: Explains,
}

/// Which changes of a flag a row explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Explains {
    /// All: the clause itself judges them.
    Judged,
    /// Only that the flag was added (`may add`).
    Added,
    /// All (`may change`).
    Changed,
}

/// A change of a command line that no row explains.
#[derive(Clone, Debug, PartialEq)]
pub struct UnexplainedChange {
    /// Path: `…containers[name=kube-apiserver]<Flags>.--foo`; without a flag, the path of the command line.
    pub path: Path,
    /// `kube-apiserver`, `kubelet.service`.
    pub owner: String,
    /// The flag; `None`: the program, or a word that is no flag.
    pub flag: Option<String>,
    /// The value before.
    pub before: Option<Value>,
    /// The value after.
    pub after: Option<Value>,
}

impl FlagTable {
    /// Changes between the objects that no row explains, in the order of flags. An object without this command
    /// line has none.
    #[must_use]
    pub fn unnamed(&self, before: &Value, after: &Value) -> Vec<UnexplainedChange> {
        let lines = |object: &Value| expect::get(object, &self.line.path());
        let (Some(was), Some(is)) = (lines(before), lines(after)) else { return Vec::new() };
        let mut changes = Vec::new();
        let words = |value: &Value| expect::words_beside_flags(value).map(|words| words.join(" "));
        let (program, programs) = (words(&was), words(&is));
        if program != programs {
            changes.push(self.change(None, program.map(Value::from), programs.map(Value::from)));
        }
        let flags = |value: &Value| match expect::open_value(Notation::Flags, value) {
            Some(Value::Object(flags)) => flags,
            _ => Map::new(),
        };
        let (was, is) = (flags(&was), flags(&is));
        let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        for name in names {
            let (before, after) = (was.get(name), is.get(name));
            if !same(before, after, &Rules::unknown()) && !self.explains(name, before) {
                changes.push(self.change(Some(name), before.cloned(), after.cloned()));
            }
        }
        changes
    }

    fn explains(&self, flag: &str, before: Option<&Value>) -> bool {
        self.rows
            .iter()
            .any(|row| is_like(&row.flag, flag) && (row.explains != Explains::Added || before.is_none()))
    }

    fn change(
        &self,
        flag: Option<&String>,
        before: Option<Value>,
        after: Option<Value>,
    ) -> UnexplainedChange {
        let mut path = self.line.path();
        path.0.push(Step::Opened(Notation::Flags));
        path.0.extend(flag.cloned().map(Step::Field));
        UnexplainedChange { path, owner: self.line.owner().to_owned(), flag: flag.cloned(), before, after }
    }
}

impl CommandLine {
    /// The container or the unit.
    #[must_use]
    pub fn owner(&self) -> &str {
        match self {
            Self::Container(name) | Self::Unit(name) => name,
        }
    }

    fn path(&self) -> Path {
        let field = |name: &str| Step::Field(name.to_owned());
        let named = |name: &str| Step::Key(vec![("name".to_owned(), name.to_owned())]);
        Path(match self {
            Self::Container(name) => {
                vec![field("spec"), field("template"), field("spec"), field("containers"), named(name)]
            }
            Self::Unit(name) => vec![
                field("spec"),
                field("units"),
                named(name),
                field("content"),
                Step::Opened(Notation::Unit),
                field("Service"),
                field("ExecStart"),
                Step::Index(0),
            ],
        })
    }
}

impl UnexplainedChange {
    /// Whether the target's `extras` declare the change: they name the flag, or each added or removed word, as
    /// `--foo`, `kube-apiserver --foo`, `kubelet.service /usr/bin/nice -n`, with `*` for any characters.
    #[must_use]
    pub fn is_declared(&self, extras: &[String]) -> bool {
        let is_meant = |word: &str| extras.iter().any(|extra| self.is_named_by(extra, word));
        match &self.flag {
            Some(flag) => is_meant(flag),
            None => self.changed_words().iter().all(|word| is_meant(word)),
        }
    }

    /// Whether an extra names a word. A flag may be named for all command lines, another word only with its owner: it
    /// could be a path.
    fn is_named_by(&self, extra: &str, word: &str) -> bool {
        match extra.split_once(' ') {
            Some((owner, words)) => {
                is_like(owner, &self.owner) && words.split_whitespace().any(|named| is_like(named, word))
            }
            None => self.flag.is_some() && extra.starts_with("--") && is_like(extra, word),
        }
    }

    /// Words that were added or removed; all words if only their order changed.
    fn changed_words(&self) -> Vec<&str> {
        let before: Vec<&str> = split(self.before.as_ref()).collect();
        let after: Vec<&str> = split(self.after.as_ref()).collect();
        let moved: Vec<&str> = without(&before, &after).into_iter().chain(without(&after, &before)).collect();
        if moved.is_empty() { after } else { moved }
    }
}

fn split(words: Option<&Value>) -> impl Iterator<Item = &str> {
    words.and_then(Value::as_str).unwrap_or_default().split_whitespace()
}

/// The words of one line without those of the other, as multisets.
fn without<'w>(words: &[&'w str], others: &[&str]) -> Vec<&'w str> {
    let mut others = others.to_vec();
    let is_more = |word: &&str| match others.iter().position(|other| other == word) {
        Some(at) => {
            others.swap_remove(at);
            false
        }
        None => true,
    };
    words.iter().copied().filter(is_more).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(rows: &[(&str, Explains)]) -> FlagTable {
        let row = |(flag, explains): &(&str, Explains)| FlagRow {
            clause: "X-001".to_owned(),
            flag: (*flag).to_owned(),
            explains: *explains,
        };
        FlagTable { line: CommandLine::Container("app".to_owned()), rows: rows.iter().map(row).collect() }
    }

    fn pod(words: &[&str]) -> Value {
        json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "command": words}]}}}})
    }

    fn unnamed(before: &[&str], after: &[&str]) -> Vec<String> {
        let rows =
            [("--audit-*", Explains::Judged), ("--cloud", Explains::Added), ("--gates", Explains::Changed)];
        let found = named(&rows).unnamed(&pod(before), &pod(after));
        let shown = |value: Option<Value>| value.map_or_else(|| "none".to_owned(), |value| value.to_string());
        found
            .into_iter()
            .map(|found| format!("{}: {}, {}", found.path, shown(found.before), shown(found.after)))
            .collect()
    }

    #[test]
    fn unexplained_changes_are_found() {
        let line = "spec.template.spec.containers[name=app]<Flags>";
        let table: [(&[&str], &[&str], Vec<String>); 7] = [
            (&["a", "--x=1"], &["a", "--x", "1"], vec![]),
            (&["a", "--audit-log=1"], &["a", "--audit-log=2"], vec![]),
            (&["a"], &["a", "--cloud=x"], vec![]),
            (&["a", "--cloud=x"], &["a", "--cloud=y"], vec![format!("{line}.--cloud: \"x\", \"y\"")]),
            (&["a", "--gates=x"], &["a"], vec![]),
            (
                &["a", "--x=1"],
                &["a", "--y"],
                vec![format!("{line}.--x: \"1\", none"), format!("{line}.--y: none, \"true\"")],
            ),
            (&["a", "--x=1"], &["sh", "a", "--x=1"], vec![format!("{line}: \"a\", \"sh a\"")]),
        ];
        for (before, after, want) in table {
            assert_eq!(unnamed(before, after), want, "{before:?} → {after:?}");
        }
        assert_eq!(named(&[]).unnamed(&pod(&["a"]), &json!({})), vec![]);
    }

    #[test]
    fn a_target_declares_flags_by_name_and_owner() {
        let found = named(&[]).unnamed(&pod(&["a"]), &pod(&["a", "--foo-bar=1"])).remove(0);
        for (extra, declared) in [
            ("--foo-bar", true),
            ("--foo-*", true),
            ("app --foo-bar", true),
            ("app --foo*", true),
            ("* --foo-bar", true),
            ("other --foo-bar", false),
            ("--foo", false),
            ("foo-bar", false),
        ] {
            assert_eq!(found.is_declared(&[extra.to_owned()]), declared, "{extra}");
        }
    }

    #[test]
    fn a_target_declares_added_and_removed_words_of_a_unit() {
        let unit = |line: &str| {
            let content = format!("[Service]\nExecStart={line}\n");
            json!({"spec": {"units": [{"name": "kubelet.service", "content": content}]}})
        };
        let line = FlagTable { line: CommandLine::Unit("kubelet.service".to_owned()), rows: Vec::new() };
        let found =
            line.unnamed(&unit("/opt/kubelet --v=2 $MORE"), &unit("/bin/nice -n 5 /opt/kubelet --v=2"));
        let [found] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((found.flag.as_deref(), found.owner.as_str()), (None, "kubelet.service"));
        for (extras, declared) in [
            (&["kubelet.service /bin/nice -n 5 $MORE"][..], true),
            (&["kubelet.service /bin/nice -n", "kubelet.service 5", "*.service $*"], true),
            (&["kubelet.service /bin/nice -n 5"], false),
            (&["kube-apiserver /bin/nice -n 5 $MORE"], false),
            (&["/bin/nice", "-n", "5", "$MORE"], false),
            (&["kubelet.service *"], true),
            (&[], false),
        ] {
            let extras: Vec<String> = extras.iter().map(|extra| (*extra).to_owned()).collect();
            assert_eq!(found.is_declared(&extras), declared, "{extras:?}");
        }
        let swapped = line.unnamed(&unit("/bin/a b"), &unit("b /bin/a")).remove(0);
        for (extra, declared) in [("kubelet.service b", false), ("kubelet.service /bin/a b", true)] {
            assert_eq!(swapped.is_declared(&[extra.to_owned()]), declared, "{extra}");
        }
    }
}
