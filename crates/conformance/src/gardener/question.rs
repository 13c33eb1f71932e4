//! Converts a contract's decision to a component's question, and the component's decision to an answer.

use component::{Cause, Decided, Question};
use contract::case::Given;
use contract::gardener::decision::{self, Decision};
use serde_json::json;

use crate::exchange::{Answer, FieldCause};

/// The question for a row's decision.
pub(crate) fn of<'a>(decision: &'a Decision, given: &'a Given) -> Question<'a> {
    let parameters = match &decision.asks {
        decision::Question::Admission { operation } => json!({"operation": operation}),
        decision::Question::Maintenance { admitted } => json!({"admitted": admitted}),
        decision::Question::Window => json!({}),
        decision::Question::Rolling { additional } => json!({"additional": additional}),
        decision::Question::Support { gardener, cluster, version } => {
            json!({"gardener": gardener, "cluster": cluster, "version": version})
        }
    };
    Question {
        about: decision.asks.name(),
        parameters,
        now: decision.now,
        object: given.object.as_ref(),
        old: given.old.as_ref(),
        cluster: &given.cluster,
    }
}

/// Converts a decision to an answer: its object is the document, its causes are the field errors.
pub(crate) fn answer(decided: Decided) -> Answer {
    match decided {
        Decided::Document(document) => Answer { allowed: true, object: Some(document), ..Answer::default() },
        Decided::Refused(causes) => {
            let causes = causes.into_iter();
            let causes = causes.map(|Cause { field, reason, message }| FieldCause { field, reason, message });
            Answer { causes: causes.collect(), ..Answer::default() }
        }
        Decided::Undecided(message) => Answer { message: Some(message), ..Answer::default() },
    }
}
