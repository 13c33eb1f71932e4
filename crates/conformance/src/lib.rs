//! The harness: laws, saboteur, differential run, report, gate. Knows no implementation.
