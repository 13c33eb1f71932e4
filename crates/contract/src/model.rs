//! Contracts and clauses as loaded: fixtures merged, tables expanded, every case spelled out.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Case;
use crate::document::provider_profile::Profiles;
use crate::document::releases::Releases;
use crate::emitted::Emits;
use crate::expect::Rules;
use crate::flags::FlagTable;
use crate::gardener::decision;

/// A position in a contract file.
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
    /// How a component reads its configuration.
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

/// A law: a property that every case must have without a clause saying so (contracts/README.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Law {
    /// Applying the patch twice gives the same object as applying it once.
    Idempotent,
    /// The same input gives the same resulting object.
    Deterministic,
    /// UPDATE keeps what CREATE made.
    UpdateKeepsMutation,
    /// An unrelated object gets no patch.
    UnrelatedUntouched,
    /// The answer arrives within the declared timeout.
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

/// The source of a clause.
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

/// A resource that the registration must cover: `apps/v1 deployments`, `v1 pods`.
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
    /// The component's registration that its cases run under: `seed` (default) or `shoot` for a
    /// resource-manager; a clause may name its own.
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
    /// Whether clauses or cases were left out; a change that no loaded case notices may be noticed by those.
    pub is_partial: bool,
    /// How it is written.
    pub form: Form,
    /// Source of all clauses that name none.
    pub source: Option<Source>,
    /// What it is about.
    pub subject: Subject,
    /// Path prefixes that the target may change (`spec.containers[].env`); empty: any.
    pub only_touches: Vec<String>,
    /// Path prefixes whose changes clauses of another contract of the webhook explain.
    pub elsewhere: Vec<String>,
    /// List paths whose order does not matter.
    pub unordered: Vec<String>,
    /// Keys of lists that the schema does not declare: list path → key field.
    pub list_keys: BTreeMap<String, String>,
    /// Excused laws and the reason.
    pub exempt: BTreeMap<Law, String>,
    /// Values of the parameters that its clauses name with `$parameter`, for a target with the contract's configuration.
    pub parameters: BTreeMap<String, Value>,
    /// Form flags only: the flags in its rows.
    pub flags: Option<FlagTable>,
    /// The releases of Gardener that its clauses distinguish; `None`: `versions` of clauses are versions of the target.
    pub releases: Option<Arc<Releases>>,
    /// The objects of control planes' namespaces by provider; `None`: its cases have no such namespaces.
    pub profiles: Option<Arc<Profiles>>,
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
    /// The level with `--strict`, where `level` is lower because Gardener itself does not keep the clause.
    pub strict: Option<Level>,
    /// Whom it binds.
    pub binds: Binds,
    /// Versions of the target it holds for (`>=1.58`), or of Gardener where the contract has `releases`; `None`:
    /// all.
    pub versions: Option<String>,
    /// Features of the target it needs (`shoot`, `not workerless`).
    pub needs: Vec<String>,
    /// Clauses without which this one means nothing.
    pub presupposes: Vec<String>,
    /// Ids of the reference's rows that it covers.
    pub covers: Vec<String>,
    /// Which of the component's registrations its cases run under; `None`: the contract's.
    pub instance: Option<String>,
    /// Form versions only: why it runs on `decision` alone although it could run elsewhere too.
    pub why: Option<String>,
    /// Other implementations that differ, and why.
    pub differs: BTreeMap<String, String>,
    /// Substrates on which its cases do not run, and why: what it says holds only elsewhere.
    pub not_on: BTreeMap<String, String>,
    /// Its source.
    pub source: Option<Source>,
    /// SHA-256 over the clause as written and its effective context, hex; changes when its meaning may.
    pub hash: String,
    /// Its position.
    pub location: Location,
    /// Whether a webhook may add what Gardener must not emit.
    pub webhook_may: bool,
    /// Rules for objects that Gardener emits, one for each row.
    pub emits: Vec<Emits>,
    /// Its cases, in order.
    pub cases: Vec<Case>,
    /// Whether cases were left out; a proof that no loaded case gives may be given by those.
    pub is_partial: bool,
}

/// The names of the substrates, on which cases run.
pub const SUBSTRATES: [&str; 5] = ["direct", "embedded", "garden", "envtest", "kind"];

/// Everything loaded.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Contracts ordered by component, then name.
    pub contracts: Vec<Contract>,
    /// Whole objects by name, as contracts/fixtures holds them.
    pub fixtures: BTreeMap<String, Value>,
}

impl Contract {
    /// How values in an object compare: by the types of its kind, and by the lists that the contract declares; for
    /// the result of a decision: by the rules of the form versions.
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
