//! Versions that a CloudProfile offers, read from tables or from words.

use formats::version::Version;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::versions_form::Offer;
use crate::load::cells::Cells;
use crate::load::keywords::{CLASSIFICATIONS, OFFERED, OFFERED_IMAGES};
use crate::load::report::{Report, nearest};
use crate::load::table::Table;
use crate::load::tree::{Span, Tree, TreeData};

/// Units of relative times, in seconds.
const UNITS: [(char, i64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];
/// Separates a container runtime interface from its container runtimes: `containerd+gvisor`.
const BRINGS: char = '+';

/// Builds the versions for one row.
pub(super) struct Offering<'a> {
    pub(super) now: Timestamp,
    pub(super) cells: &'a Cells<'a>,
    pub(super) report: &'a Report<'a>,
}

/// A version and its position.
type OfferedVersion = (Map<String, Value>, Span);

impl Offering<'_> {
    /// Versions of Kubernetes.
    pub(super) fn versions(&self, offer: &Offer) -> Vec<Value> {
        let found = match offer {
            Offer::Table(table, span) => self.versions_in_table(table, *span, &OFFERED),
            Offer::Inline(tree) => self.versions_in_words(tree),
        };
        self.report_duplicates(&found);
        found.into_iter().map(|(version, _)| Value::Object(version)).collect()
    }

    /// Images with their versions, in the order in which their names appear.
    pub(super) fn images(&self, table: &Table, span: Span) -> Vec<Value> {
        let found = self.versions_in_table(table, span, &OFFERED_IMAGES);
        self.report_duplicates(&found);
        let mut images: Vec<(Value, Vec<Value>)> = Vec::new();
        for (mut version, _) in found {
            let name = version.remove("name").unwrap_or_default();
            let version = Value::Object(version);
            match images.iter_mut().find(|(other, _)| *other == name) {
                Some((_, versions)) => versions.push(version),
                None => images.push((name, vec![version])),
            }
        }
        images.into_iter().map(|(name, versions)| json!({"name": name, "versions": versions})).collect()
    }

    /// The versions in a table; a row whose version is `~` is left out.
    fn versions_in_table(&self, table: &Table, span: Span, known: &[&str]) -> Vec<OfferedVersion> {
        for column in table.columns.iter().filter(|column| !known.contains(&column.name.as_str())) {
            let message = format!("unknown column {:?}", column.name);
            self.report.add("column", column.span, message, nearest(&column.name, known.iter().copied()));
        }
        let at = |name: &str| table.columns.iter().position(|column| column.name == name);
        let needed = known.iter().filter(|name| matches!(**name, "name" | "version"));
        if let Some(missing) = needed.into_iter().find(|name| at(name).is_none()) {
            let remedy = format!("the columns are {}", known.join(", "));
            self.report.add("column", span, format!("the column {missing} is missing"), remedy);
            return Vec::new();
        }
        let rows = table.rows.iter().filter_map(|row| {
            let cell = |name: &str| Some(self.cells.fill(&row.cells.get(at(name)?)?.tree));
            let version = cell("version").filter(|version| !version.is_null())?;
            let mut found = self.version(&version, cell("classification"), cell("expires"))?;
            if known.contains(&"name") {
                self.add_image_fields(&mut found, cell)?;
            }
            Some((found, version.span))
        });
        rows.collect()
    }

    /// Version, classification and expiration, of Kubernetes or of an image.
    fn version(
        &self,
        version: &Tree,
        classification: Option<Tree>,
        expires: Option<Tree>,
    ) -> Option<Map<String, Value>> {
        let mut found = Map::new();
        found.insert("version".to_owned(), Value::from(self.valid_version(version)?));
        if let Some(state) = classification.filter(|state| !state.is_null()) {
            found.insert(
                "classification".to_owned(),
                Value::from(self.classification(&text(&state), state.span)?),
            );
        }
        if let Some(time) = expires.filter(|time| !time.is_null()) {
            found.insert("expirationDate".to_owned(), Value::from(self.time(&text(&time), time.span)?));
        }
        Some(found)
    }

    /// Adds the name of an image, and what it supports; by default it fits the worker pool of the fixture.
    fn add_image_fields(
        &self,
        found: &mut Map<String, Value>,
        cell: impl Fn(&str) -> Option<Tree>,
    ) -> Option<()> {
        let name = cell("name")?;
        if name.text().is_none() {
            self.report.add(
                "type",
                name.span,
                "the image has no name",
                "write a string in the column `name`",
            );
            return None;
        }
        found.insert("name".to_owned(), Value::from(text(&name)));
        let values = |column: &str, usual: &[&str]| match cell(column) {
            None => usual.iter().map(|name| (*name).to_owned()).collect(),
            Some(tree) => texts(&tree),
        };
        let architectures = values("architectures", &["amd64"]);
        let interfaces: Vec<Value> =
            values("cri", &["containerd", "docker"]).iter().map(|text| interface(text)).collect();
        for (key, list) in [("architectures", json!(architectures)), ("cri", json!(interfaces))] {
            if list.as_array().is_some_and(|list| !list.is_empty()) {
                found.insert(key.to_owned(), list);
            }
        }
        if let Some(kubelet) = cell("kubelet").filter(|kubelet| !kubelet.is_null()) {
            found.insert("kubeletVersionConstraint".to_owned(), Value::from(text(&kubelet)));
        }
        Some(())
    }

    /// Reads versions in words, with cells filled in. A cell that is `~` may be the whole value but not a part of it:
    /// the rest would be lost with it.
    fn versions_in_words(&self, tree: &Tree) -> Vec<OfferedVersion> {
        let filled = self.cells.fill(tree);
        let is_cell =
            tree.text().is_some_and(|text| text.starts_with('<') && text.find('>') == Some(text.len() - 1));
        if filled.is_null() && !tree.is_null() && !is_cell {
            let remedy =
                "write the version in the cell, or use a table: a row whose version is `~` is left out";
            self.report.add(
                "version",
                tree.span,
                "a cell in this text is `~`, which removes the whole text",
                remedy,
            );
        }
        self.parse_list(&filled)
    }

    /// `1.27.3 deprecated +30d, 1.28.0 preview`, or a list of such strings.
    fn parse_list(&self, tree: &Tree) -> Vec<OfferedVersion> {
        let texts: Vec<String> = match &tree.data {
            TreeData::Scalar(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
            TreeData::Scalar(Value::Null) => Vec::new(),
            TreeData::List(items) => items.iter().map(text).collect(),
            _ => {
                let remedy = "write a table, or `1.27.3 deprecated +30d, 1.28.0 preview`";
                self.report.add("type", tree.span, "cloudProfile does not name versions", remedy);
                Vec::new()
            }
        };
        texts.iter().filter_map(|text| Some((self.parse_words(text, tree.span)?, tree.span))).collect()
    }

    fn parse_words(&self, text: &str, span: Span) -> Option<Map<String, Value>> {
        let (mut state, mut time) = (None, None);
        let mut words =
            text.split_whitespace().map(|word| Tree { data: TreeData::Scalar(Value::from(word)), span });
        let empty = Tree { data: TreeData::Scalar(Value::from("")), span };
        let version = words.next().unwrap_or(empty);
        for word in words {
            let begins = self::text(&word).chars().next();
            let is_time = begins.is_some_and(|first| first.is_ascii_digit() || "+-".contains(first))
                || self::text(&word) == "now";
            let slot = if is_time { &mut time } else { &mut state };
            if slot.replace(word).is_some() {
                let remedy = "write at most one classification and one time: `1.27.3 deprecated +30d`";
                self.report.add(
                    "version",
                    span,
                    format!("{:?} has two classifications or two times", text.trim()),
                    remedy,
                );
                return None;
            }
        }
        self.version(&version, state, time)
    }

    /// A valid version. Deliberately invalid versions must be written in a CloudProfile as a map.
    fn valid_version(&self, tree: &Tree) -> Option<String> {
        let text = text(tree);
        let wrong = match (tree.text(), Version::parse(&text)) {
            (None, _) => "it is a number".to_owned(),
            (_, Err(error)) => error.to_string(),
            (Some(_), Ok(_)) => return Some(text),
        };
        let remedy = "write it in full and quoted: `\"1.27.3\"`; write a deliberately invalid version in a map: `cloudProfile: {spec: …}`";
        self.report.add("version", tree.span, format!("{text:?} is not a valid version: {wrong}"), remedy);
        None
    }

    fn classification<'t>(&self, text: &'t str, span: Span) -> Option<&'t str> {
        if CLASSIFICATIONS.contains(&text) {
            return Some(text);
        }
        let message = format!("unknown classification {text:?}");
        self.report.add("classification", span, message, nearest(text, CLASSIFICATIONS));
        None
    }

    /// The time that `+30d`, `-1h30m`, `now`, or a time with its zone means, as a profile writes it.
    fn time(&self, text: &str, span: Span) -> Option<String> {
        let absolute = || text.parse::<Timestamp>().ok();
        let relative = || self.now.checked_add(distance(text)?).ok();
        let found = if text == "now" { Some(self.now) } else { relative().or_else(absolute) };
        if found.is_none() {
            let remedy = "write `+30d`, `-1h30m`, `now`, or a time with its zone: `2024-06-01T00:00:00Z`";
            self.report.add("time", span, format!("{text:?} is not a valid time"), remedy);
        }
        found.map(|time| time.to_string())
    }

    /// Reports duplicate versions. Deliberate duplicates must be written in a CloudProfile as a map.
    fn report_duplicates(&self, found: &[OfferedVersion]) {
        for (at, (version, span)) in found.iter().enumerate() {
            let key = |version: &Map<String, Value>| {
                [version.get("name").cloned(), version.get("version").cloned()]
            };
            if found[..at].iter().any(|(other, _)| key(other) == key(version)) {
                let message = format!("{} is offered twice", text_of(version.get("version")));
                self.report.add("version", *span, message, "remove one of the two");
            }
        }
    }
}

/// `+1d12h`, `-1s`.
fn distance(text: &str) -> Option<SignedDuration> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let mut seconds = 0_i64;
    for part in rest.split_inclusive(|letter: char| !letter.is_ascii_digit()) {
        let (number, unit) = part.split_at_checked(part.len().checked_sub(1)?)?;
        let (_, length) = UNITS.iter().find(|(name, _)| unit.chars().eq([*name]))?;
        seconds = seconds.checked_add(number.parse::<i64>().ok()?.checked_mul(*length)?)?;
    }
    (!rest.is_empty()).then(|| SignedDuration::from_secs(sign * seconds))
}

/// `containerd+gvisor` as a profile writes it.
fn interface(text: &str) -> Value {
    let mut names = text.split(BRINGS);
    let mut interface = json!({"name": names.next().unwrap_or_default()});
    let runtimes: Vec<Value> = names.map(|name| json!({"type": name})).collect();
    if !runtimes.is_empty() {
        interface["containerRuntimes"] = Value::Array(runtimes);
    }
    interface
}

fn texts(tree: &Tree) -> Vec<String> {
    match tree.list() {
        Some(items) => items.iter().map(text).collect(),
        None if tree.is_null() => Vec::new(),
        None => vec![text(tree)],
    }
}

/// A scalar as a string.
fn text(tree: &Tree) -> String {
    text_of(Some(&tree.to_value()))
}

fn text_of(value: Option<&Value>) -> String {
    value.map_or_else(String::new, |value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}
