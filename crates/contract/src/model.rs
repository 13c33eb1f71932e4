//! Contracts and clauses as loaded: fixtures merged, tables expanded, every case spelled out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Case;
use crate::decision;
use crate::document::releases::Releases;
use crate::emitted::Emits;
use crate::expect::Rules;
use crate::flags::Named;

/// A place in a contract file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Location {
    /// Path of the file, relative to the folder of contracts' parent (`contracts/…`).
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// How a contract is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Form {
    /// A mutating webhook, by example.
    Mutation,
    /// A validating webhook, by example.
    Validation,
    /// Command lines and configuration of control plane components.
    Flags,
    /// Objects as emitted and as left by a webhook.
    Objects,
    /// Version classification and upgrade paths.
    Versions,
    /// Steps of a controller.
    Scenario,
    /// What a component makes of its configuration.
    Configuration,
    /// The program of a component: its command line, its servers, its end.
    Process,
}

/// How binding a clause is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// Decides the verdict.
    #[default]
    Must,
    /// Warns.
    Should,
    /// Is recorded.
    May,
}

/// Whom a clause binds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Binds {
    /// Gardener's own components.
    #[default]
    Gardener,
    /// Extensions.
    Extension,
    /// Both sides.
    Both,
}

/// A law that holds on every case without being listed (contracts/README.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Law {
    /// Applying twice gives what applying once gave.
    Idempotent,
    /// The same input gives the same resulting object.
    Deterministic,
    /// UPDATE keeps what CREATE made.
    UpdateKeepsMutation,
    /// An unrelated object gets no patch.
    UnrelatedUntouched,
    /// The answer comes within the declared timeout.
    WithinTimeout,
    /// A dry run has no side effect.
    DryRunHasNoEffect,
    /// The uid of the request is echoed.
    UidEchoed,
    /// A patch declares its type.
    PatchTypeDeclared,
    /// No keyed list holds a key twice.
    KeysUnique,
}

/// Where a clause comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Source {
    /// Public document (Gardener's path), if a document says it.
    pub document: Option<String>,
    /// Source file of the original, if only its code says it.
    pub code: Option<String>,
    /// Version of the document or of the code.
    pub version: Option<String>,
    /// Section heading.
    pub section: Option<String>,
    /// First 8 hex digits of SHA-256 over the sentence's letters and digits, lower case.
    pub sentence: Option<String>,
}

/// A kind the registration must cover: `apps/v1 deployments`, `v1 pods`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Handled {
    /// API group; empty for the core group.
    pub group: String,
    /// API version.
    pub version: String,
    /// Plural resource name.
    pub resource: String,
}

/// What a contract is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Subject {
    /// Webhook name, for admission forms.
    pub webhook: Option<String>,
    /// Controller name, for scenarios.
    pub controller: Option<String>,
    /// What the registration must cover.
    pub handles: Vec<Handled>,
    /// Which of the component's registrations its cases run under: `seed` (default) or `shoot` for a
    /// resource-manager; a clause may say its own.
    pub instance: Option<String>,
}

/// One behaviour and its clauses; the files of one folder with one `metadata.name` are one contract.
#[derive(Clone, Debug)]
pub struct Contract {
    /// Name of the behaviour: `high-availability-config`.
    pub name: String,
    /// Component label: `resource-manager`.
    pub component: String,
    /// All labels.
    pub labels: BTreeMap<String, String>,
    /// Whether clauses or cases of it were left out: what none of the others notices may be noticed by those.
    pub is_partial: bool,
    /// How it is written.
    pub form: Form,
    /// Source of all clauses that name none.
    pub source: Option<Source>,
    /// What it is about.
    pub subject: Subject,
    /// Path prefixes that the target may change (`spec.containers[].env`); empty: any.
    pub only_touches: Vec<String>,
    /// List paths whose order does not matter.
    pub unordered: Vec<String>,
    /// Keys of lists that the schema does not know: list path → key field.
    pub list_keys: BTreeMap<String, String>,
    /// Excused laws and the reason.
    pub exempt: BTreeMap<Law, String>,
    /// What its clauses name with `$parameter`, as a target has it that runs with the contract's configuration.
    pub parameters: BTreeMap<String, Value>,
    /// Of the form flags: the flags that its rows speak of.
    pub flags: Option<Named>,
    /// The releases of Gardener that its clauses tell apart; `None`: their `versions` are the target's own.
    pub releases: Option<Arc<Releases>>,
    /// Its clauses, in order.
    pub clauses: Vec<Clause>,
    /// Its files, relative as in [`Location::file`].
    pub files: Vec<String>,
}

/// One normative sentence with its cases.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Never reused: `GRM-HAC-001`.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// How binding it is.
    pub level: Level,
    /// How binding it is to the letter, where Gardener itself does not keep it so.
    pub strict: Option<Level>,
    /// Whom it binds.
    pub binds: Binds,
    /// Versions of the target it holds for (`>=1.58`), or of Gardener where the contract tells its releases apart; `None`:
    /// all.
    pub versions: Option<String>,
    /// Features of the target it needs (`shoot`, `not workerless`).
    pub needs: Vec<String>,
    /// Clauses without which this one means nothing.
    pub presupposes: Vec<String>,
    /// Numbered clauses of the reference it covers.
    pub covers: Vec<String>,
    /// Which of the component's registrations its cases run under; `None`: the contract's.
    pub instance: Option<String>,
    /// Of a decision that could be asked elsewhere and is not: why.
    pub why: Option<String>,
    /// Foreign implementations that differ, and why.
    pub differs: BTreeMap<String, String>,
    /// Where it comes from.
    pub source: Option<Source>,
    /// SHA-256 over the clause as written and its effective context, hex; changes when its meaning may.
    pub hash: String,
    /// Where it stands.
    pub location: Location,
    /// Whether a webhook may bring about what Gardener must not emit.
    pub webhook_may: bool,
    /// What it says of objects that Gardener emits, a rule for each row.
    pub emits: Vec<Emits>,
    /// Its cases, in order.
    pub cases: Vec<Case>,
    /// Whether cases of it were left out: what none of the others can show may be shown by those.
    pub is_partial: bool,
}

/// Everything loaded.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Contracts ordered by component, then name.
    pub contracts: Vec<Contract>,
    /// Whole objects by name, as contracts/fixtures holds them.
    pub fixtures: BTreeMap<String, Value>,
}

impl Contract {
    /// What is known of the values in an object: its kind's types, and the lists that the contract knows better; of
    /// the document that tells a decision: what the form knows.
    #[must_use]
    pub fn rules(&self, object: &Value) -> Rules {
        if self.form == Form::Versions {
            return decision::rules();
        }
        Rules::of_object(object).with(&self.list_keys, &self.unordered)
    }
}

impl Catalog {
    /// Every clause with its contract, in order.
    pub fn clauses(&self) -> impl Iterator<Item = (&Contract, &Clause)> {
        self.contracts
            .iter()
            .flat_map(|contract| contract.clauses.iter().map(move |clause| (contract, clause)))
    }
}
