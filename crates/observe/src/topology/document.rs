//! Values of a YAML file with the path and line where each stands.

use super::TopologyError;
use saphyr::{LoadableYamlNode, MarkedYamlOwned, ScalarOwned, YamlDataOwned};
use saphyr_parser::{Event, Parser};
use std::collections::HashMap;

/// Nobody nests settings deeper.
const DEEPEST: usize = 32;
/// What aliases may copy in all: a few bytes can stand for any number of them.
const MOST_COPIED: usize = 8 << 20;
/// About what a value takes beside its text.
const A_VALUE: usize = 64;
/// No name of a setting is longer.
const LONGEST_NAME: usize = 200;

/// A value with its place.
#[derive(Debug, Clone)]
pub(super) struct At<'d> {
    /// Keys from the top: `tikv_servers[0].host`. Empty of the whole file.
    pub path: String,
    node: &'d MarkedYamlOwned,
    /// Where its key stands.
    line: usize,
}

/// A scalar as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Setting {
    pub name: String,
    pub value: String,
}

/// The first document of a text.
///
/// # Errors
/// Where it is no YAML, or nests too deep.
pub(super) fn parsed(text: &str) -> Result<Option<MarkedYamlOwned>, TopologyError> {
    check_depth(text)?;
    let all = MarkedYamlOwned::load_from_str(text).map_err(|e| TopologyError::NoYaml {
        line: e.marker().line(),
        why: e.info().to_string(),
    })?;
    Ok(all.into_iter().next())
}

/// What a value is: the levels within it, and about its bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    levels: usize,
    bytes: usize,
}

/// Looks how deep a text nests, and how much its aliases copy: its values are built, hashed and dropped by
/// recursion, which has a stack. The parser's events come from a loop.
fn check_depth(text: &str) -> Result<(), TopologyError> {
    // What is open: its anchor, 0 for none, and what was seen within.
    let mut open: Vec<(usize, Size)> = Vec::new();
    let mut sizes: HashMap<usize, Size> = HashMap::new();
    let mut copied = 0usize;
    for event in Parser::new_from_iter(text.chars()) {
        // What is no YAML is the loader's to tell.
        let Ok((event, span)) = event else { break };
        let within = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                open.push((anchor, Size::default()));
                Size::default()
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (anchor, mut size) = open.pop().unwrap_or_default();
                size.levels += 1;
                size.bytes = size.bytes.saturating_add(A_VALUE);
                sizes.insert(anchor, size);
                size
            }
            // A copy of all that its anchor has.
            Event::Alias(anchor) => {
                let size = sizes.get(&anchor).copied().unwrap_or_default();
                copied = copied.saturating_add(size.bytes);
                size
            }
            Event::Scalar(text, _, anchor, _) => {
                let bytes = A_VALUE + text.len();
                let size = Size { levels: 0, bytes };
                sizes.insert(anchor, size);
                size
            }
            _ => Size::default(),
        };
        if let Some((_, seen)) = open.last_mut() {
            seen.levels = within.levels.max(seen.levels);
            seen.bytes = seen.bytes.saturating_add(within.bytes);
        }
        let wrong = |why: String| TopologyError::NoYaml {
            line: span.start.line(),
            why,
        };
        if open.len() + within.levels > DEEPEST {
            return Err(wrong(format!(
                "more than {DEEPEST} levels of keys and lists within each other"
            )));
        }
        if copied > MOST_COPIED {
            return Err(wrong(format!(
                "its aliases (*name) copy more than {} MiB",
                MOST_COPIED >> 20
            )));
        }
    }
    Ok(())
}

impl<'d> At<'d> {
    pub fn top(node: &'d MarkedYamlOwned) -> Self {
        Self {
            path: String::new(),
            node,
            line: node.span.start.line(),
        }
    }

    /// What is wrong with it.
    pub fn wrong(&self, why: impl Into<String>) -> TopologyError {
        TopologyError::Value {
            path: match self.path.is_empty() {
                true => "the file".into(),
                false => self.path.clone(),
            },
            line: self.line,
            why: why.into(),
        }
    }

    /// The name of its own key.
    pub fn key(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Keys with their values, in the file's order; none of nothing.
    ///
    /// # Errors
    /// Where it is something else.
    pub fn entries(&self) -> Result<Vec<At<'d>>, TopologyError> {
        let map = match &self.node.data {
            YamlDataOwned::Mapping(map) => map,
            YamlDataOwned::Value(ScalarOwned::Null) => return Ok(Vec::new()),
            _ => return Err(self.wrong("must hold keys with values, for example host: 10.0.1.1")),
        };
        let entry = |(key, node): (&'d MarkedYamlOwned, &'d MarkedYamlOwned)| {
            let name = scalar(key).unwrap_or_default();
            let name: String = name.chars().take(LONGEST_NAME).collect();
            At {
                path: match self.path.is_empty() {
                    true => name,
                    false => format!("{}.{name}", self.path),
                },
                node,
                line: key.span.start.line(),
            }
        };
        Ok(map.iter().map(entry).collect())
    }

    /// Its items; none of nothing.
    ///
    /// # Errors
    /// Where it is no list.
    pub fn items(&self) -> Result<Vec<At<'d>>, TopologyError> {
        let list = match &self.node.data {
            YamlDataOwned::Sequence(list) => list,
            YamlDataOwned::Value(ScalarOwned::Null) => return Ok(Vec::new()),
            _ => return Err(self.wrong("must be a list, for example - host: 10.0.1.1")),
        };
        let item = |(n, node): (usize, &'d MarkedYamlOwned)| At {
            path: format!("{}[{n}]", self.path),
            node,
            line: node.span.start.line(),
        };
        Ok(list.iter().enumerate().map(item).collect())
    }

    /// Its text.
    ///
    /// # Errors
    /// Where it is no single value.
    pub fn text(&self) -> Result<String, TopologyError> {
        let text = scalar(self.node).filter(|text| !text.is_empty());
        text.ok_or_else(|| self.wrong("must be a single value"))
    }

    /// Its port.
    ///
    /// # Errors
    /// Where it is none.
    pub fn port(&self) -> Result<u16, TopologyError> {
        let text = self.text()?;
        let port = text.parse().ok().filter(|port| *port > 0);
        port.ok_or_else(|| {
            let key = self.key();
            self.wrong(format!(
                "must be a port from 1 to 65535, for example {key}: 4000"
            ))
        })
    }

    /// The single values below it, with dotted names; a list is one value.
    pub fn settings(&self) -> Vec<Setting> {
        let mut all = Vec::new();
        gather(self.node, "", 0, &mut all);
        all
    }
}

fn gather(node: &MarkedYamlOwned, name: &str, depth: usize, all: &mut Vec<Setting>) {
    match &node.data {
        YamlDataOwned::Mapping(map) if depth < DEEPEST && name.len() <= LONGEST_NAME => {
            for (key, value) in map {
                let key = scalar(key).unwrap_or_default();
                let name = match name {
                    "" => key,
                    above => format!("{above}.{key}"),
                };
                gather(value, &name, depth + 1, all);
            }
        }
        YamlDataOwned::Sequence(list) => {
            let items: Vec<String> = list.iter().filter_map(scalar).collect();
            all.push(Setting {
                name: name.into(),
                value: format!("[{}]", items.join(", ")),
            });
        }
        _ => {
            if let (Some(value), false) = (scalar(node), name.is_empty()) {
                all.push(Setting {
                    name: name.into(),
                    value,
                });
            }
        }
    }
}

/// A single value as text.
fn scalar(node: &MarkedYamlOwned) -> Option<String> {
    match &node.data {
        YamlDataOwned::Value(ScalarOwned::Null) => Some(String::new()),
        YamlDataOwned::Value(ScalarOwned::Boolean(b)) => Some(b.to_string()),
        YamlDataOwned::Value(ScalarOwned::Integer(n)) => Some(n.to_string()),
        YamlDataOwned::Value(ScalarOwned::FloatingPoint(n)) => Some(n.into_inner().to_string()),
        YamlDataOwned::Value(ScalarOwned::String(text)) => Some(text.clone()),
        YamlDataOwned::Representation(text, ..) => Some(text.clone()),
        YamlDataOwned::Tagged(_, inner) => scalar(inner),
        _ => None,
    }
}
