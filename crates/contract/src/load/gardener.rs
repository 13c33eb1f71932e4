//! The form versions, as it is written: its questions, CloudProfiles drawn as tables, and rows that become decisions; and names of
//! admission plugins.

pub(super) mod decision;
pub(super) mod plugins;
mod profile;
mod question;
pub(super) mod versions_form;
