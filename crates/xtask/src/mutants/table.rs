//! The result of a component: how many mutants the contracts noticed, and which survived without a reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::trial::Fate;

/// What became of the mutants of a component.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The seed of the sample.
    pub(super) seed: u64,
    /// All mutants that compile.
    pub(super) mutants: usize,
    /// Those that do not compile.
    pub(super) unviable: usize,
    pub(super) noticed: usize,
    pub(super) hung: usize,
    /// Survivors for which `mutants.yaml` states a reason, and the reason.
    pub(super) reasoned: Vec<(String, String)>,
    /// Survivors without one.
    pub(super) open: Vec<String>,
    /// Mutants of the sample that time did not suffice for.
    pub(super) untried: usize,
}

impl Table {
    /// Counts a mutant.
    pub(super) fn add(&mut self, name: &str, fate: Fate, reasons: &BTreeMap<String, String>) {
        match (fate, reasons.get(name)) {
            (Fate::Noticed, _) => self.noticed += 1,
            (Fate::Hung, _) => self.hung += 1,
            (Fate::Survived, Some(reason)) => self.reasoned.push((name.to_owned(), reason.clone())),
            (Fate::Survived, None) => self.open.push(name.to_owned()),
        }
    }

    /// How many were tried.
    pub(super) fn tried(&self) -> usize {
        self.noticed + self.hung + self.reasoned.len() + self.open.len()
    }

    /// The lines to print.
    pub(super) fn to_text(&self) -> String {
        let tried = self.tried();
        let caught = self.noticed + self.hung;
        let (low, high) = interval(caught, tried);
        let mut text = format!(
            "tried    {tried} of {} mutants (seed {}; {} more do not compile)\nnoticed  {caught} ({:.1} %, 95 % interval {low:.1} to {high:.1} %), {} of them because the contracts did not end\nreasoned {}\nopen     {}\n",
            self.mutants,
            self.seed,
            self.unviable,
            percent(caught, tried),
            self.hung,
            self.reasoned.len(),
            self.open.len(),
        );
        for (name, reason) in &self.reasoned {
            let _ = writeln!(text, "  reason   {name}: {reason}");
        }
        for name in &self.open {
            let _ = writeln!(text, "  SURVIVED {name}");
        }
        text
    }

    /// What `coverage` reads: `contracts/<component>/mutants.yaml`.
    pub(super) fn to_document(&self, component: &str) -> Value {
        json!({
            "apiVersion": "conformance.gardener.cloud/v1alpha1",
            "kind": "Mutants",
            "component": component,
            "seed": self.seed,
            "mutants": self.mutants,
            "tried": self.tried(),
            "noticed": self.noticed + self.hung,
            "reasoned": self.reasoned.len(),
            "open": self.open.len(),
        })
    }
}

fn percent(part: usize, of: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "mutants are counted by the thousand")]
    let share = part as f64 / of.max(1) as f64;
    share * 100.0
}

/// Wilson's 95 % interval of a share, in per cent: what all mutants would show, estimated from a sample.
fn interval(part: usize, of: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    if of == 0 {
        return (0.0, 100.0);
    }
    #[expect(clippy::cast_precision_loss, reason = "mutants are counted by the thousand")]
    let (share, number) = (part as f64 / of as f64, of as f64);
    let scale = 1.0 + Z * Z / number;
    let middle = share + Z * Z / (2.0 * number);
    let spread = Z * (share * (1.0 - share) / number + Z * Z / (4.0 * number * number)).sqrt();
    (100.0 * (middle - spread) / scale, 100.0 * (middle + spread) / scale)
}

/// `mutants.yaml`: `- mutant: …` followed by `  reason: …`.
pub(super) fn reasons(file: &Path) -> Result<BTreeMap<String, String>> {
    if !file.exists() {
        return Ok(BTreeMap::new());
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    let listed: Value =
        formats::yaml::from_str(&text).with_context(|| format!("failed to read {}", file.display()))?;
    let entry = |entry: &Value| {
        let field = |name: &str| {
            let value = entry[name].as_str().map(str::to_owned);
            value.with_context(|| format!("{}: {name} missing in {entry}", file.display()))
        };
        Ok((field("mutant")?, field("reason")?))
    };
    listed.as_array().into_iter().flatten().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_survivor_is_open_unless_a_reason_is_stated() {
        let reasons = BTreeMap::from([("a".to_owned(), "no request shows it".to_owned())]);
        let mut table = Table { seed: 1, mutants: 10, ..Table::default() };
        for (name, fate) in
            [("a", Fate::Survived), ("b", Fate::Survived), ("c", Fate::Noticed), ("d", Fate::Hung)]
        {
            table.add(name, fate, &reasons);
        }
        assert_eq!((table.tried(), table.open.clone()), (4, vec!["b".to_owned()]));
        assert_eq!(
            table.to_document("x"),
            json!({"apiVersion": "conformance.gardener.cloud/v1alpha1", "kind": "Mutants", "component": "x",
                "seed": 1, "mutants": 10, "tried": 4, "noticed": 2, "reasoned": 1, "open": 1})
        );
    }

    #[test]
    fn the_interval_narrows_with_the_sample() {
        let (low, high) = interval(285, 300);
        assert!((91.9..92.1).contains(&low) && (96.9..97.1).contains(&high), "{low} {high}");
        assert_eq!(interval(0, 0), (0.0, 100.0));
    }
}
