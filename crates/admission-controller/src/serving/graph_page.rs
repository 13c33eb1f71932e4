//! Shows the graph of the authorizer to a person: its vertices with their neighbours, as a page.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::PathNames;
use crate::graph::{Graph, Vertex, VertexKind};

/// With more vertices, only Seeds are shown unless the query says something.
const MANY: usize = 2000;

/// Which vertices are shown; an empty text is any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    kind: String,
    namespace: String,
    name: String,
}

impl Filter {
    /// Reads the query of a request.
    #[must_use]
    pub fn read(query: &str) -> Self {
        let value = |key: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(name, _)| *name == key).map(|(_, value)| decoded(value)).unwrap_or_default()
        };
        Self { kind: value("kind"), namespace: value("namespace"), name: value("name") }
    }

    fn shows(&self, vertex: &Vertex) -> bool {
        let wanted = [
            (self.kind.as_str(), vertex.kind.name()),
            (&self.namespace, &vertex.namespace),
            (&self.name, &vertex.name),
        ];
        wanted.into_iter().all(|(filter, value)| filter.is_empty() || filter == value)
    }
}

/// The page; all values from objects are escaped.
#[must_use]
pub fn page(graph: &Graph, now: Timestamp, filter: &Filter) -> String {
    let vertices = graph.vertices(now);
    let mut filter = filter.clone();
    if filter == Filter::default() && vertices.len() > MANY {
        VertexKind::Seed.name().clone_into(&mut filter.kind);
    }
    let mut page = form(&filter);
    for vertex in vertices.into_iter().filter(|vertex| filter.shows(vertex)) {
        let incoming: Vec<&Vertex> = graph.incoming(vertex, now).collect();
        let outgoing: Vec<&Vertex> = graph.outgoing(vertex, now).collect();
        push(&mut page, format_args!("<h3># {}</h3>\n", link(vertex)));
        for (direction, neighbours) in [("&lt;- (incoming)", incoming), ("-&gt; (outgoing)", outgoing)] {
            push(&mut page, format_args!("<p>{direction} ({})</p>\n<ul>\n", neighbours.len()));
            for neighbour in neighbours {
                push(&mut page, format_args!("<li>{}</li>\n", link(neighbour)));
            }
            page.push_str("</ul>\n");
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn form(filter: &Filter) -> String {
    let option = |kind: &str, text: &str| {
        let selected = if kind == filter.kind { " selected" } else { "" };
        format!("<option value=\"{kind}\"{selected}>{text}</option>")
    };
    let kinds = VertexKind::ALL.iter().map(|kind| option(kind.name(), kind.name()));
    let kinds: String = [option("", "any kind")].into_iter().chain(kinds).collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head><title>Resource dependency graph of the seed authorizer</title></head>\n\
         <body>\n<form method=\"get\" action=\"{path}\">\n<select name=\"kind\">{kinds}</select>\n\
         <input name=\"namespace\" placeholder=\"namespace\" value=\"{namespace}\">\n\
         <input name=\"name\" placeholder=\"name\" value=\"{name}\">\n<input type=\"submit\" value=\"Show\">\n</form>\n",
        path = PathNames::GRAPH,
        namespace = escaped(&filter.namespace),
        name = escaped(&filter.name),
    )
}

fn link(vertex: &Vertex) -> String {
    let Vertex { kind, namespace, name } = vertex;
    let (kind, path) = (kind.name(), PathNames::GRAPH);
    let (in_query, of_name) = (encoded(namespace), encoded(name));
    let text = escaped(&vertex.to_string());
    format!("<a href=\"{path}?kind={kind}&amp;namespace={in_query}&amp;name={of_name}\">{text}</a>")
}

fn push(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("writing to memory does not fail");
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, character| {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
        out
    })
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            push(&mut out, format_args!("%{byte:02X}"));
        }
        out
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, code) {
            (_, Some(code)) => {
                bytes.push(code);
                rest = &after[2..];
            }
            (b'+', None) => {
                bytes.push(b' ');
                rest = after;
            }
            (other, None) => {
                bytes.push(*other);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Contribution, Edge};

    fn graph(shoots: usize) -> Graph {
        let mut graph = Graph::default();
        for number in 0..shoots {
            let shoot = VertexKind::Shoot.in_namespace("dev", &format!("s{number}"));
            let seed = VertexKind::Seed.named("seed");
            graph.put(&shoot.clone(), Contribution::of([Edge::new(shoot, &seed)]));
        }
        graph
    }

    #[test]
    fn vertices_are_shown_with_their_neighbours() {
        let now = Timestamp::UNIX_EPOCH;
        let shown = page(&graph(2), now, &Filter::read("kind=Seed&namespace=&name=seed"));
        for line in [
            "<h3># <a href=\"/debug/resource-dependency-graph?kind=Seed&amp;namespace=&amp;name=seed\">Seed:seed</a></h3>",
            "<p>&lt;- (incoming) (2)</p>",
            "<p>-&gt; (outgoing) (0)</p>",
        ] {
            assert!(shown.lines().any(|found| found == line), "{line} is missing in\n{shown}");
        }
        assert!(!shown.contains("<h3># <a href=\"/debug/resource-dependency-graph?kind=Shoot"), "{shown}");
        let by_namespace = page(&graph(2), now, &Filter::read("namespace=dev"));
        assert_eq!(by_namespace.matches("<h3>").count(), 2);
    }

    #[test]
    fn many_vertices_are_not_all_shown() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(page(&graph(1999), now, &Filter::default()).matches("<h3>").count(), 2000);
        assert_eq!(page(&graph(2000), now, &Filter::default()).matches("<h3>").count(), 1);
        assert_eq!(page(&graph(2000), now, &Filter::read("name=s7")).matches("<h3>").count(), 1);
    }

    #[test]
    fn what_a_query_says_is_escaped() {
        let filter = Filter::read("name=%22%3E%3Cscript%3E&namespace=a+b%zz&kind=%3C");
        assert_eq!((filter.name.as_str(), filter.namespace.as_str()), ("\"><script>", "a b%zz"));
        let shown = page(&Graph::default(), Timestamp::UNIX_EPOCH, &filter);
        assert!(!shown.contains("<script>") && shown.contains("&#34;&gt;&lt;script&gt;"), "{shown}");
    }
}
