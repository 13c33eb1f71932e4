//! How each clause is proven able to fail, damage by damage.

use std::fmt::Write as _;

use super::plural;
use super::style::{Tone, View};
use crate::report::{Proof, Report};

/// Proofs as text, damage by damage if the report has them; with a verbose view also proven laws.
#[must_use]
pub fn proof(report: &Report, view: &View<'_>) -> String {
    let mut out = String::new();
    let mut line =
        |text: &str| writeln!(out, "{}", text.trim_end()).expect("writing to memory does not fail");
    for contract in &report.contracts {
        line(&view.paint(Tone::Strong, &format!("{}/{}", contract.component, contract.name)));
        for clause in &contract.clauses {
            let Some(proof) = &clause.proof else {
                line(&format!("  – {}  no case passed, so nothing is proven", clause.id));
                continue;
            };
            let (sign, tone) = if proof.proven { ("✓", Tone::Good) } else { ("?", Tone::Warn) };
            let caught: Vec<String> =
                proof.caught.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
            line(&format!("  {} {}  caught: {}", view.paint(tone, sign), clause.id, caught.join(", ")));
            damages(&mut line, proof, view);
        }
        let laws: Vec<String> = contract
            .laws
            .iter()
            .filter_map(|law| Some((law, law.proven?)))
            .filter(|(_, proven)| view.verbose || !proven)
            .map(|(law, proven)| format!("{} {}", if proven { "✓" } else { "?" }, crate::laws::name(law.law)))
            .collect();
        if !laws.is_empty() {
            line(&format!("  laws  {}", laws.join("  ")));
        }
        for gap in &contract.gaps {
            line(&format!("  ? gap {}: changes in {}, and no case would miss it", gap.path, gap.case));
        }
        for unasked in &contract.unasked {
            line(&format!("  ? {unasked}"));
        }
    }
    let counts = &report.counts;
    line(&format!(
        "{} of {} clauses proven · {}",
        counts.proven,
        counts.answered,
        plural(counts.gaps, "gap")
    ));
    out
}

/// Damages that were caught, damages that were not, and assertions without a damage.
fn damages(line: &mut impl FnMut(&str), proof: &Proof, view: &View<'_>) {
    for damage in &proof.noticed {
        line(&view.cut(&format!("      {} fails after {}: {}", damage.case, damage.damage, damage.text), 0));
    }
    for survivor in &proof.survivors {
        line(&view.cut(
            &format!("      {} passes though {}: {}", survivor.case, survivor.damage, survivor.text),
            0,
        ));
    }
    for assertion in &proof.undamaged {
        line(&view.cut(&format!("      nothing can break {assertion}"), 0));
    }
}
