//! `schema`: JSON Schemas for editors.

use contract::document::attestation::Attestation;
use contract::document::ledger::Ledger;
use contract::document::mutants::Mutants;
use contract::document::not_normative::NotNormative;
use contract::document::policy::PolicyFile;
use contract::document::provider_profile::{NamespaceFile, ProfileFile};
use contract::document::releases::ReleasesFile;
use contract::document::target::TargetFile;
use contract::document::waivers::WaiverFile;
use contract::json_schema;
use contract::load::nearest;
use serde_json::Value;

use crate::arguments::SchemaArguments;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Returns a JSON Schema.
type SchemaWriter = fn() -> Value;

/// The kinds of files, in the order of the help, each with its schema.
const KINDS: [(&str, SchemaWriter); 16] = [
    ("contract", json_schema::contract),
    ("fixture", json_schema::fixture),
    ("suite", json_schema::of::<conformance::select::Suite>),
    ("explanations", json_schema::explanations),
    ("variations", json_schema::variations),
    ("releases", json_schema::of::<ReleasesFile>),
    ("provider-profile", json_schema::of::<ProfileFile>),
    ("control-plane-namespace", json_schema::of::<NamespaceFile>),
    ("target", json_schema::of::<TargetFile>),
    ("waivers", json_schema::of::<WaiverFile>),
    ("gate", json_schema::of::<PolicyFile>),
    ("ledger", json_schema::of::<Ledger>),
    ("mutants", json_schema::of::<Mutants>),
    ("not-normative", json_schema::of::<NotNormative>),
    ("attestation", json_schema::of::<Attestation>),
    ("report", json_schema::of::<conformance::report::Report>),
];

/// Prints the schema of a kind of files.
pub(crate) fn schema(arguments: &SchemaArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let kind = arguments.kind.as_str();
    let Some((_, schema)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let near = nearest(kind, KINDS.iter().map(|(name, _)| *name));
        return Err(Failure::usage(format!("there is no schema of {kind:?}; {near}")));
    };
    terminal.print(&format!("{:#}", schema()));
    Ok(Ending::done())
}
