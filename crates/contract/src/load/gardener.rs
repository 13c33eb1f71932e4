//! The form versions, as it is written: its questions, CloudProfiles drawn as tables, and rows that become decisions.

pub(super) mod decision;
mod profile;
mod question;
pub(super) mod versions_form;
