//! Which changes are tried at one place of the code: those that cargo-mutants makes, under its names.

use quote::quote;
use syn::{BinOp, Expr, GenericArgument, PathArguments, ReturnType, Type, parse_quote};

/// What a binary operator is replaced by.
pub(super) fn binary(operator: &BinOp) -> Vec<BinOp> {
    match operator {
        BinOp::Eq(_) => vec![parse_quote!(!=)],
        BinOp::Ne(_) => vec![parse_quote!(==)],
        BinOp::And(_) => vec![parse_quote!(||)],
        BinOp::Or(_) => vec![parse_quote!(&&)],
        BinOp::Lt(_) => vec![parse_quote!(==), parse_quote!(>), parse_quote!(<=)],
        BinOp::Gt(_) => vec![parse_quote!(==), parse_quote!(<), parse_quote!(>=)],
        BinOp::Le(_) => vec![parse_quote!(>), parse_quote!(<)],
        BinOp::Ge(_) => vec![parse_quote!(<), parse_quote!(>)],
        BinOp::Add(_) => vec![parse_quote!(-), parse_quote!(*)],
        BinOp::Sub(_) | BinOp::Mul(_) => vec![parse_quote!(+), parse_quote!(/)],
        BinOp::Div(_) | BinOp::Rem(_) => vec![parse_quote!(*), parse_quote!(+)],
        BinOp::AddAssign(_) => vec![parse_quote!(-=), parse_quote!(*=)],
        BinOp::SubAssign(_) => vec![parse_quote!(+=), parse_quote!(/=)],
        BinOp::BitAnd(_) => vec![parse_quote!(|), parse_quote!(^)],
        BinOp::BitOr(_) => vec![parse_quote!(&), parse_quote!(^)],
        _ => Vec::new(),
    }
}

/// What a function of this return type returns instead: the expression, and its name.
pub(super) fn values(returned: &ReturnType) -> Vec<(Expr, String)> {
    let ReturnType::Type(_, returned) = returned else {
        return vec![named(parse_quote!(()))];
    };
    of_type(returned).into_iter().map(named).collect()
}

fn of_type(returned: &Type) -> Vec<Expr> {
    match returned {
        Type::Path(path) => {
            let Some(segment) = path.path.segments.last() else { return Vec::new() };
            let inner = first_argument(&segment.arguments);
            match segment.ident.to_string().as_str() {
                "bool" => vec![parse_quote!(true), parse_quote!(false)],
                "String" => vec![parse_quote!(String::new()), parse_quote!("xyzzy".into())],
                "Option" => {
                    let some = inner.into_iter().flat_map(of_type);
                    std::iter::once(parse_quote!(None))
                        .chain(some.map(|value| parse_quote!(Some(#value))))
                        .collect()
                }
                "Result" => {
                    let ok = inner.map_or_else(|| vec![parse_quote!(Default::default())], of_type);
                    ok.into_iter().map(|value| parse_quote!(Ok(#value))).collect()
                }
                "Vec" => {
                    let one = inner.into_iter().flat_map(of_type).map(|value| parse_quote!(vec![#value]));
                    std::iter::once(parse_quote!(vec![])).chain(one).collect()
                }
                "i8" | "i16" | "i32" | "i64" | "isize" => {
                    vec![parse_quote!(0), parse_quote!(1), parse_quote!(-1)]
                }
                "u8" | "u16" | "u32" | "u64" | "usize" => vec![parse_quote!(0), parse_quote!(1)],
                _ => vec![parse_quote!(Default::default())],
            }
        }
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") && reference.mutability.is_none() => {
                vec![parse_quote!(""), parse_quote!("xyzzy")]
            }
            _ => vec![parse_quote!(Default::default())],
        },
        Type::Tuple(tuple) if tuple.elems.is_empty() => vec![parse_quote!(())],
        Type::Tuple(_) => vec![parse_quote!(Default::default())],
        _ => Vec::new(),
    }
}

fn first_argument(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(argument) => Some(argument),
        _ => None,
    })
}

fn named(value: Expr) -> (Expr, String) {
    let name = text(&quote!(#value));
    (value, name)
}

/// Tokens as one writes them: `Vec<(&'static str, String)>`.
pub(super) fn text(tokens: &proc_macro2::TokenStream) -> String {
    let mut text = tokens.to_string();
    for (spaced, written) in [
        (" ! ", "!"),
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        (" >", ">"),
        ("< ", "<"),
        (" ,", ","),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" . ", "."),
        (" ;", ";"),
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
    ] {
        text = text.replace(spaced, written);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values_of(returned: &ReturnType) -> Vec<String> {
        values(returned).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn a_function_returns_plain_values_of_its_type_instead() {
        assert_eq!(values_of(&parse_quote!()), ["()"]);
        assert_eq!(values_of(&parse_quote!(-> bool)), ["true", "false"]);
        assert_eq!(
            values_of(&parse_quote!(-> Result<Option<bool>, Error>)),
            ["Ok(None)", "Ok(Some(true))", "Ok(Some(false))"]
        );
        assert_eq!(values_of(&parse_quote!(-> Vec<&str>)), ["vec![]", "vec![\"\"]", "vec![\"xyzzy\"]"]);
        assert_eq!(values_of(&parse_quote!(-> Plan)), ["Default::default()"]);
        assert_eq!(values_of(&parse_quote!(-> impl Iterator<Item = u8>)), Vec::<String>::new());
    }

    #[test]
    fn a_border_is_moved_to_either_side() {
        let replacements: Vec<String> =
            binary(&parse_quote!(<)).iter().map(|operator| quote!(#operator).to_string()).collect();
        assert_eq!(replacements, ["==", ">", "<="]);
    }
}
