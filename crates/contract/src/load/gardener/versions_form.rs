//! The keys of the form versions, as written: in a contract for all its clauses, or in a clause.

use formats::yaml::Style;

use crate::load::fields::Fields;
use crate::load::table::{self, Table};
use crate::load::tree::{Span, Tree};
use crate::model::Form;

/// The keys of the form versions. A clause's values replace the contract's; its Shoot is merged over the contract's.
#[derive(Clone, Debug, Default)]
pub(crate) struct VersionsForm {
    pub(crate) now: Option<Tree>,
    pub(crate) cloud_profile: Option<Offer>,
    pub(crate) machine_images: Option<Offer>,
    pub(crate) shoot: Option<Tree>,
    pub(crate) old: Option<Tree>,
    pub(crate) runs_on: Option<Tree>,
    pub(crate) why: Option<Tree>,
    pub(crate) when: Option<Tree>,
    pub(crate) then: Option<Tree>,
}

/// Versions that a profile offers.
#[derive(Clone, Debug)]
pub(crate) enum Offer {
    /// In a table.
    Table(Table, Span),
    /// In words, or as a part of a CloudProfile.
    Inline(Tree),
}

impl VersionsForm {
    /// Reads the keys.
    pub(crate) fn of(fields: &Fields<'_>) -> Self {
        Self {
            now: fields.tree("now"),
            cloud_profile: offer(fields, "cloudProfile"),
            machine_images: offer(fields, "machineImages"),
            shoot: fields.tree("shoot"),
            old: fields.tree("old"),
            runs_on: fields.tree("runsOn"),
            why: fields.tree("why"),
            when: fields.tree("when"),
            then: fields.tree("then"),
        }
    }
}

/// Reports keys of the form versions in other forms, and keys of other forms in the form versions.
pub(crate) fn report_foreign_keys(fields: &Fields<'_>, form: Form, own: &[&str], others: &[&str]) {
    let (refused, words) = match form {
        Form::Versions => (others, "in the form versions"),
        _ => (own, "outside the form versions"),
    };
    for name in refused {
        if let Some(node) = fields.node(name) {
            let message = format!("{name} is not allowed {words}");
            fields.report.add("form", Span::of(fields.file, node), message, "remove it");
        }
    }
}

fn offer(fields: &Fields<'_>, name: &str) -> Option<Offer> {
    let node = fields.node(name)?;
    if node.scalar().is_some_and(|scalar| scalar.style == Style::Block) {
        let table = table::read(fields.file, node, fields.report)?;
        return Some(Offer::Table(table, Span::of(fields.file, node)));
    }
    Some(Offer::Inline(Tree::of(fields.file, node)))
}
