//! Rewrites a source file so that it holds all its mutants at once, and a number chooses the one that is active.
//!
//! `a < b` becomes `(if crate::mutation::is_active(7) { a <= b } else { a < b })`: thousands of mutants are compiled
//! once, and each trial only starts the test again with another number.

use std::collections::BTreeSet;

use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, BinOp, Block, Expr, Pat, Signature, Stmt, UnOp, parse_quote};

use super::operators;

/// One change of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mutant {
    /// Which number activates it.
    pub(super) id: u32,
    /// The file, from the root.
    pub(super) file: String,
    /// `crates/x/src/a.rs: replace < with <= in f`: without line numbers, which move with every edit.
    pub(super) name: String,
}

/// Numbers the mutants of `syntax` from `first` and builds them in, except those in `omitted`, which do not compile.
pub(super) fn instrument(
    syntax: &mut syn::File,
    file: &str,
    first: u32,
    omitted: &BTreeSet<u32>,
) -> Vec<Mutant> {
    let mut instrument =
        Instrument { file, next: first, omitted, functions: Vec::new(), of: Vec::new(), mutants: Vec::new() };
    instrument.visit_file_mut(syntax);
    instrument.mutants
}

struct Instrument<'a> {
    file: &'a str,
    next: u32,
    omitted: &'a BTreeSet<u32>,
    /// The functions around the current place, the innermost last; outside of them nothing is changed.
    functions: Vec<String>,
    /// What the functions of an `impl` are called after.
    of: Vec<String>,
    mutants: Vec<Mutant>,
}

impl Instrument<'_> {
    /// The number of a change at the current place, if it is built in.
    fn add(&mut self, change: &str) -> Option<u32> {
        let id = self.next;
        self.next += 1;
        if self.omitted.contains(&id) {
            return None;
        }
        let name = format!("{}: {change}", self.file);
        self.mutants.push(Mutant { id, file: self.file.to_owned(), name });
        Some(id)
    }

    fn inside(&self) -> &str {
        self.functions.last().map_or("", String::as_str)
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &mut Block) {
        if is_test(attributes) || signature.constness.is_some() {
            return;
        }
        let name = match self.of.last() {
            Some(of) => format!("{of}::{}", signature.ident),
            None => signature.ident.to_string(),
        };
        let returned = &signature.output;
        let arrow = operators::text(&quote!(#returned));
        let arrow = if arrow.is_empty() { arrow } else { format!(" {arrow}") };
        let mut guards: Vec<Stmt> = Vec::new();
        for (value, text) in operators::values(returned) {
            if let Some(id) = self.add(&format!("replace {name}{arrow} with {text}")) {
                guards.push(parse_quote!(if crate::mutation::is_active(#id) { return #value; }));
            }
        }
        self.functions.push(name);
        visit_mut::visit_block_mut(self, block);
        self.functions.pop();
        // Inner items and attributes stay valid after statements.
        block.stmts.splice(0..0, guards);
    }

    fn binary(&mut self, expression: &mut Expr) {
        let original = expression.clone();
        visit_mut::visit_expr_mut(self, expression);
        let Expr::Binary(binary) = &original else { return };
        if binds(&original) {
            return;
        }
        let operator = &binary.op;
        let mut chain = expression.clone();
        for replacement in operators::binary(operator) {
            let (from, to) = (quote!(#operator).to_string(), quote!(#replacement).to_string());
            let change = format!("replace {from} with {to} in {}", self.inside());
            if let Some(id) = self.add(&change) {
                let changed = with_operator(&original, replacement);
                chain = parse_quote!(if crate::mutation::is_active(#id) { #changed } else { #chain });
            }
        }
        *expression = parse_quote!((#chain));
    }

    fn unary(&mut self, expression: &mut Expr) {
        let original = expression.clone();
        visit_mut::visit_expr_mut(self, expression);
        let Expr::Unary(unary) = &original else { return };
        let operator = match unary.op {
            UnOp::Not(_) => "!",
            UnOp::Neg(_) if !matches!(&*unary.expr, Expr::Lit(_)) => "-",
            _ => return,
        };
        if let Some(id) = self.add(&format!("delete {operator} in {}", self.inside())) {
            let inner = &unary.expr;
            *expression = parse_quote!((if crate::mutation::is_active(#id) { #inner } else { #expression }));
        }
    }

    fn arms(&mut self, expression: &mut syn::ExprMatch) {
        visit_mut::visit_expr_match_mut(self, expression);
        let catches_all =
            expression.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none());
        for arm in &mut expression.arms {
            if let Some((_, guard)) = &mut arm.guard {
                let text = operators::text(&quote!(#guard));
                for value in [true, false] {
                    let change = format!("replace match guard {text} with {value} in {}", self.inside());
                    if let Some(id) = self.add(&change) {
                        let forced: Expr =
                            parse_quote!((if crate::mutation::is_active(#id) { #value } else { #guard }));
                        **guard = forced;
                    }
                }
            }
            if catches_all && !matches!(arm.pat, Pat::Wild(_)) {
                let pattern = &arm.pat;
                let change =
                    format!("delete match arm {} in {}", operators::text(&quote!(#pattern)), self.inside());
                let Some(id) = self.add(&change) else { continue };
                let kept: Expr = match &arm.guard {
                    Some((_, guard)) => parse_quote!(!crate::mutation::is_active(#id) && #guard),
                    None => parse_quote!(!crate::mutation::is_active(#id)),
                };
                arm.guard = Some((parse_quote!(if), Box::new(kept)));
            }
        }
    }

    fn fields(&mut self, expression: &mut syn::ExprStruct) {
        let rest = expression.rest.clone();
        visit_mut::visit_expr_struct_mut(self, expression);
        let Some(rest) = rest else { return };
        let path = expression.path.clone();
        for field in &mut expression.fields {
            let (member, value) = (&field.member, &field.expr);
            let of = operators::text(&quote!(#path));
            let change =
                format!("delete field {} from struct {of} expression in {}", quote!(#member), self.inside());
            if let Some(id) = self.add(&change) {
                field.expr = parse_quote!(if crate::mutation::is_active(#id) {
                    let base: #path = #rest;
                    base.#member
                } else {
                    #value
                });
                field.colon_token.get_or_insert_with(Default::default);
            }
        }
    }
}

impl VisitMut for Instrument<'_> {
    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        match item {
            syn::Item::Mod(module) if is_test(&module.attrs) => {}
            syn::Item::Fn(_) | syn::Item::Impl(_) | syn::Item::Mod(_) | syn::Item::Trait(_) => {
                visit_mut::visit_item_mut(self, item);
            }
            _ => {}
        }
    }

    fn visit_item_fn_mut(&mut self, item: &mut syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &mut item.block);
    }

    fn visit_impl_item_fn_mut(&mut self, item: &mut syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &mut item.block);
    }

    fn visit_trait_item_fn_mut(&mut self, item: &mut syn::TraitItemFn) {
        if let Some(block) = &mut item.default {
            self.function(&item.attrs, &item.sig, block);
        }
    }

    fn visit_item_impl_mut(&mut self, item: &mut syn::ItemImpl) {
        let of = &item.self_ty;
        let of = operators::text(&quote!(#of));
        let name = match &item.trait_ {
            Some((_, path, _)) => format!("<impl {} for {of}>", operators::text(&quote!(#path))),
            None => of,
        };
        self.of.push(name);
        let outer = std::mem::take(&mut self.functions);
        visit_mut::visit_item_impl_mut(self, item);
        self.functions = outer;
        self.of.pop();
    }

    // An item within a function is named after itself alone.
    fn visit_stmt_mut(&mut self, statement: &mut Stmt) {
        if let Stmt::Item(item) = statement {
            let outer = std::mem::take(&mut self.of);
            self.visit_item_mut(item);
            self.of = outer;
        } else {
            visit_mut::visit_stmt_mut(self, statement);
        }
    }

    fn visit_expr_mut(&mut self, expression: &mut Expr) {
        match expression {
            Expr::Binary(_) => self.binary(expression),
            Expr::Unary(_) => self.unary(expression),
            Expr::Match(inner) => self.arms(inner),
            Expr::Struct(inner) => self.fields(inner),
            // The length of an array and a constant block are evaluated by the compiler.
            Expr::Repeat(inner) => self.visit_expr_mut(&mut inner.expr),
            Expr::Const(_) => {}
            _ => visit_mut::visit_expr_mut(self, expression),
        }
    }

    // Patterns, types and attributes hold expressions that are constants.
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_attribute_mut(&mut self, _: &mut Attribute) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}
}

fn with_operator(expression: &Expr, operator: BinOp) -> Expr {
    let mut changed = expression.clone();
    if let Expr::Binary(binary) = &mut changed {
        binary.op = operator;
    }
    changed
}

/// Whether a chain of `&&` binds names by `let`, which no other operator may stand between.
fn binds(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let tokens = quote!(#attribute).to_string();
        tokens.contains("cfg (test)") || tokens.contains("# [test]") || tokens.contains(":: test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &str, omitted: &[u32]) -> (Vec<(u32, String)>, String) {
        let mut syntax = syn::parse_file(source).unwrap();
        let mutants = instrument(&mut syntax, "a.rs", 1, &omitted.iter().copied().collect());
        let names = mutants.into_iter().map(|mutant| (mutant.id, mutant.name)).collect();
        (names, prettyplease::unparse(&syntax))
    }

    #[test]
    fn each_place_holds_its_mutants_and_the_code_as_it_is() {
        let (names, source) = names("impl A { fn f(&self, b: i64) -> bool { !self.g() && b < 3 } }", &[2]);
        let names: Vec<(u32, &str)> = names.iter().map(|(id, name)| (*id, name.as_str())).collect();
        assert_eq!(
            names,
            [
                (1, "a.rs: replace A::f -> bool with true"),
                (3, "a.rs: delete ! in A::f"),
                (4, "a.rs: replace < with == in A::f"),
                (5, "a.rs: replace < with > in A::f"),
                (6, "a.rs: replace < with <= in A::f"),
                (7, "a.rs: replace && with || in A::f"),
            ]
        );
        assert!(
            source.contains("if crate::mutation::is_active(1u32) {\n            return true;"),
            "{source}"
        );
        assert!(
            source.contains("!self.g() || b < 3"),
            "the changed operator has operands as they are: {source}"
        );
    }

    #[test]
    fn tests_constants_and_chains_of_let_stay_as_they_are() {
        let source = "const A: usize = 1 + 2;
            #[cfg(test)] mod tests { fn f() -> bool { 1 < 2 } }
            const fn g() -> bool { 1 < 2 }
            fn h(a: Option<u8>) { if let Some(b) = a && b == 1 { i() } }";
        let (names, _) = names(source, &[]);
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["a.rs: replace h with ()", "a.rs: replace == with != in h"]);
    }

    #[test]
    fn an_arm_is_deleted_only_where_another_catches_all() {
        let source =
            "fn f(a: u8) { match a { 1 if g() => h(), 2 => h(), _ => {} } match b { C => h(), D => h() } }";
        let (names, source) = names(source, &[]);
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "a.rs: replace f with ()",
                "a.rs: replace match guard g() with true in f",
                "a.rs: replace match guard g() with false in f",
                "a.rs: delete match arm 1 in f",
                "a.rs: delete match arm 2 in f",
            ]
        );
        assert!(source.contains("2 if !crate::mutation::is_active(5u32) =>"), "{source}");
    }

    #[test]
    fn a_field_is_taken_from_the_rest_of_a_struct() {
        let (names, source) = names("fn f() -> impl B { A { b: 1, ..Default::default() } }", &[]);
        assert_eq!(names, [(1, "a.rs: delete field b from struct A expression in f".to_owned())]);
        assert!(source.contains("let base: A = Default::default();"), "{source}");
    }
}
