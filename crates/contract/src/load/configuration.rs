//! The configuration of cases.

use serde_json::{Value, json};

use super::cells::Cells;
use super::draft::Clause;
use super::expand::Context;
use super::gardener::plugins;
use super::given::ObjectBuilder;
use super::tree::Tree;
use crate::gardener::plugins::COMPONENT;

impl Context<'_> {
    /// The configuration of the contract with that of the clause merged over it, cells filled in.
    pub(super) fn config(&self, clause: &Clause, builder: &ObjectBuilder<'_>) -> Value {
        self.layers(clause)
            .fold(json!({}), |base, layer| builder.merge_untyped(base, &builder.cells.fill(layer)))
    }

    /// Reports admission plugins that a garden does not have. It is no part of expanding a case: a case that was left out because
    /// of such a name would lead to further errors.
    pub(super) fn check_plugins(&self, clause: &Clause) {
        if self.draft.labels.get("component").is_none_or(|name| name != COMPONENT) {
            return;
        }
        let check = |cells: &Cells<'_>| {
            self.layers(clause).for_each(|layer| plugins::check(&cells.fill(layer), self.report));
        };
        match &clause.table {
            None => check(&Cells::none(self.report)),
            Some(table) => {
                for row in &table.rows {
                    check(&Cells::of(table, row, self.report));
                }
            }
        }
    }

    fn layers<'a>(&'a self, clause: &'a Clause) -> impl Iterator<Item = &'a Tree> {
        [self.draft.config.as_ref(), clause.config.as_ref()].into_iter().flatten()
    }
}
