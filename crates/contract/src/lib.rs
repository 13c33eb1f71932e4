//! The contract language: model, loader with source spans, matchers, case expansion, lint.
