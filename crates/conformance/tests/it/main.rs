//! The harness against scripted targets: what each kind of answer means, and how it is reported.

mod acme;
mod aggregated;
mod decisions;
mod differential;
mod direct;
mod embedded;
mod exit;
mod explore;
mod fake;
mod forms;
mod given_cluster;
mod golden;
mod image;
mod maintenance;
mod objects;
mod parts;
mod proof;
mod rendering;
mod sarif;
mod scenario;
mod selection;
mod small;
mod started;
mod surroundings;
mod versions;
