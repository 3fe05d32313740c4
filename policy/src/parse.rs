//! A tree of values to a `Policy`: every key, its type and its value checked, each error with its line.
//!
//! Pure. Keys stand at top level or under `security: subagent_permissions:`, beside which `extends` may stand, too. An empty
//! value is an error, not a default:
//! `fs.read:` with nothing after it would otherwise mean one thing to its author and another to us.

use crate::env::is_env_name;
use crate::error::{PolicyError, place};
use crate::injection::is_injection;
use crate::node::{At, Fields, fields, text, word};
use crate::origin::Source;
use crate::policy::{Clause, LimitRules, NetworkRule, Policy};
use crate::resolved::{Auth, Backend, Isolation, Mode, ModelAccess, Runtime};
use crate::value::{
    Whole, argv, cpus, endpoint, env_pattern, example, image, list, name_pattern, path_rules, profile_name, protected,
    runtime, whole_number,
};
use crate::yaml::{self, Node, Token, Value};

const TOP: Fields = &[
    "extends",
    "why",
    "mode",
    "fs",
    "network",
    "env",
    "max_runtime_mins",
    "limits",
    "isolation",
    "backend",
    "image",
    "runtime",
    "model_access",
    "model_endpoint",
    "key_command",
    "auth",
    "unprotect",
    "examples",
];
const LIMITS: Fields = &[
    "memory_mb",
    "pids",
    "cpus",
    "open_files",
    "file_size_mb",
    "disk_mb",
    "output_kb",
];

/// Reads a policy file.
pub fn parse(source: &Source, text: &str) -> Result<Policy, PolicyError> {
    from_root(source, &yaml::read(source, text)?)
}

/// Reads a policy whose text was taken apart before.
pub(crate) fn parse_tokens(source: &Source, tokens: &[Token]) -> Result<Policy, PolicyError> {
    from_root(source, &yaml::assemble(source, tokens)?)
}

/// What may stand before the keys, in one word or as two mappings.
const PREFIX: &str = "security.subagent_permissions";

fn from_root(source: &Source, root: &Node) -> Result<Policy, PolicyError> {
    if let Value::Null = root.value {
        // An empty file says nothing: every key takes its base's value.
        return Ok(Policy::empty(source.clone()));
    }
    let Value::Map(entries) = &root.value else {
        return Err(PolicyError::NotAMapping {
            at: place(source, root.line.max(1), root.column.max(1)),
            found: root.found(),
        });
    };
    let has = |name: &str| entries.iter().any(|(key, _)| key.name == name);
    let known: Fields = match (has(PREFIX), has("security")) {
        (true, _) => &["extends", PREFIX],
        (false, true) => &["extends", "security"],
        (false, false) => return policy(source, root, ""),
    };
    let (mut base, mut permissions) = (None, root);
    for entry in fields(source, root, "", known)? {
        match entry.name {
            "extends" => base = Some(entry.node),
            "security" => permissions = permissions_in(source, entry.node)?,
            _ => permissions = entry.node,
        }
    }
    let mut out = policy(source, permissions, PREFIX)?;
    if let Some(node) = base {
        let at = At { source, key: "extends" };
        if out.extends.is_some() {
            return Err(PolicyError::DuplicateKey {
                at: at.at(node),
                key: at.key.to_owned(),
            });
        }
        out.extends = Some(at.clause(node, profile_name(&at, node)?));
    }
    Ok(out)
}

/// Reads a policy file that may not be text.
pub fn parse_bytes(source: &Source, bytes: &[u8]) -> Result<Policy, PolicyError> {
    parse(source, yaml::text_of(source, bytes)?)
}

/// Reads a policy that stands inside another file, under the key `inside`.
pub fn parse_node(source: &Source, node: &Node, inside: &str) -> Result<Policy, PolicyError> {
    policy(source, node, inside)
}

/// Reads `security.subagent_permissions` of a project's configuration; `None` if it has none.
///
/// Other keys of that file belong to other features and are not looked at.
pub fn parse_project_config(source: &Source, bytes: &[u8]) -> Result<Option<Policy>, PolicyError> {
    let root = yaml::read(source, yaml::text_of(source, bytes)?)?;
    let dotted = child(source, &root, "the configuration", PREFIX)?;
    let nested = match child(source, &root, "the configuration", "security")? {
        Some(security) => child(source, security, "security", "subagent_permissions")?,
        None => None,
    };
    match (dotted, nested) {
        (Some(dotted), Some(_)) => Err(PolicyError::DuplicateKey {
            at: place(source, dotted.line, dotted.column),
            key: PREFIX.to_owned(),
        }),
        (Some(permissions), None) | (None, Some(permissions)) => policy(source, permissions, PREFIX).map(Some),
        (None, None) => Ok(None),
    }
}

fn child<'a>(source: &Source, node: &'a Node, key: &str, name: &str) -> Result<Option<&'a Node>, PolicyError> {
    match &node.value {
        Value::Map(entries) => Ok(entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)),
        Value::Null => Ok(None),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            Err(At { source, key }.wrong(node, "a mapping"))
        }
    }
}

fn permissions_in<'a>(source: &Source, node: &'a Node) -> Result<&'a Node, PolicyError> {
    let mut entries = fields(source, node, "security", &["subagent_permissions"])?.into_iter();
    entries
        .next()
        .map(|entry| entry.node)
        .ok_or_else(|| PolicyError::WrongType {
            at: place(source, node.line, node.column),
            key: "security".to_owned(),
            expected: "a mapping with the key `subagent_permissions`",
            found: "an empty one".to_owned(),
        })
}

fn policy(source: &Source, root: &Node, inside: &str) -> Result<Policy, PolicyError> {
    let mut out = Policy::empty(source.clone());
    for entry in fields(source, root, inside, TOP)? {
        let (at, node) = (
            At {
                source,
                key: entry.name,
            },
            entry.node,
        );
        match entry.name {
            "extends" => out.extends = Some(at.clause(node, profile_name(&at, node)?)),
            "why" => out.why = Some(text(&at, node)?.to_owned()),
            "mode" => out.mode = Some(at.clause(node, word(&at, node, MODES)?)),
            "fs" => fs(source, node, &mut out)?,
            "network" => out.network = Some(at.clause(node, network(&at, node)?)),
            "env" => env(source, node, &mut out)?,
            "max_runtime_mins" => out.max_runtime = Some(at.clause(node, runtime(&at, node)?)),
            "limits" => limits(source, node, &mut out.limits)?,
            "isolation" => out.isolation = Some(at.clause(node, word(&at, node, ISOLATIONS)?)),
            "backend" => out.backend = Some(at.clause(node, word(&at, node, BACKENDS)?)),
            "image" => out.image = Some(at.clause(node, image(&at, node)?)),
            "runtime" => out.runtime = Some(at.clause(node, word(&at, node, RUNTIMES)?)),
            "model_access" => out.model_access = Some(at.clause(node, word(&at, node, MODEL_ACCESS)?)),
            "model_endpoint" => out.model_endpoint = Some(at.clause(node, endpoint(&at, node)?)),
            "key_command" => out.key_command = Some(at.clause(node, argv(&at, node)?)),
            "auth" => out.auth = Some(at.clause(node, word(&at, node, AUTH)?)),
            "unprotect" => out.unprotect = Some(list(&at, node, "name", protected)?),
            "examples" => out.examples = examples(&at, node)?,
            _ => {}
        }
    }
    Ok(out)
}

const MODES: &[(&str, Mode)] = &[("restricted", Mode::Restricted), ("inherit", Mode::Inherit)];
const ISOLATIONS: &[(&str, Isolation)] = &[("namespaces", Isolation::Namespaces), ("landlock", Isolation::Landlock)];
const BACKENDS: &[(&str, Backend)] = &[
    ("auto", Backend::Auto),
    ("native", Backend::Native),
    ("podman", Backend::Podman),
    ("docker", Backend::Docker),
];
const RUNTIMES: &[(&str, Runtime)] = &[("default", Runtime::Default), ("runsc", Runtime::Runsc)];
const MODEL_ACCESS: &[(&str, ModelAccess)] = &[("auto", ModelAccess::Auto), ("none", ModelAccess::None)];
const AUTH: &[(&str, Auth)] = &[("broker", Auth::Broker), ("mount", Auth::Mount)];

fn fs(source: &Source, node: &Node, out: &mut Policy) -> Result<(), PolicyError> {
    for entry in fields(source, node, "fs", &["read", "write", "deny"])? {
        match entry.name {
            "read" => {
                let at = At { source, key: "fs.read" };
                out.read = Some(path_rules(&at, entry.node)?);
                out.read_at = Some(at.at(entry.node));
            }
            "write" => {
                let at = At {
                    source,
                    key: "fs.write",
                };
                out.write = Some(path_rules(&at, entry.node)?);
                out.write_at = Some(at.at(entry.node));
            }
            "deny" => out.deny = path_rules(&At { source, key: "fs.deny" }, entry.node)?,
            _ => {}
        }
    }
    Ok(())
}

fn network(at: &At<'_>, node: &Node) -> Result<NetworkRule, PolicyError> {
    match &node.value {
        Value::Bool(false) => Ok(NetworkRule::Off),
        Value::Bool(true) => Ok(NetworkRule::Host),
        Value::Map(_) => {
            let (mut allow, mut deny) = (None, Vec::new());
            for entry in fields(at.source, node, "network", &["allow", "deny"])? {
                match entry.name {
                    "allow" => {
                        let at = At {
                            source: at.source,
                            key: "network.allow",
                        };
                        allow = Some(list(&at, entry.node, "host", name_pattern)?);
                    }
                    "deny" => {
                        deny = list(
                            &At {
                                source: at.source,
                                key: "network.deny",
                            },
                            entry.node,
                            "host",
                            name_pattern,
                        )?
                    }
                    _ => {}
                }
            }
            Ok(NetworkRule::Names { allow, deny })
        }
        Value::Null | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            Err(at.wrong(node, "`false`, `true` or `{allow: [\"host\"]}`"))
        }
    }
}

fn env(source: &Source, node: &Node, out: &mut Policy) -> Result<(), PolicyError> {
    for entry in fields(source, node, "env", &["allow", "set"])? {
        match entry.name {
            "allow" => {
                out.env_allow = Some(list(
                    &At {
                        source,
                        key: "env.allow",
                    },
                    entry.node,
                    "name",
                    env_pattern,
                )?)
            }
            "set" => env_set(&At { source, key: "env.set" }, entry.node, out)?,
            _ => {}
        }
    }
    Ok(())
}

fn env_set(at: &At<'_>, node: &Node, out: &mut Policy) -> Result<(), PolicyError> {
    let Value::Map(entries) = &node.value else {
        return Err(at.wrong(node, "a mapping of names to text"));
    };
    for (key, value) in entries {
        let here = place(at.source, key.line, key.column);
        let (rule, name) = (at.key.to_owned(), key.name.clone());
        if !is_env_name(&name) {
            return Err(PolicyError::BadEnvName {
                at: here,
                key: rule,
                name,
            });
        }
        if is_injection(name.as_bytes()) {
            return Err(PolicyError::InjectionName {
                at: here,
                key: rule,
                name,
            });
        }
        let Value::Text(text) = &value.value else {
            return Err(At {
                source: at.source,
                key: &format!("env.set.{name}"),
            }
            .wrong(value, "text"));
        };
        if text.contains('\0') {
            return Err(PolicyError::BadEnvValue {
                at: at.at(value),
                key: rule,
                name,
            });
        }
        out.env_set.insert(
            name,
            Clause {
                value: text.clone(),
                origin: here,
                why: None,
            },
        );
    }
    Ok(())
}

fn limits(source: &Source, node: &Node, out: &mut LimitRules) -> Result<(), PolicyError> {
    const MB: Whole = Whole {
        least: 1,
        most: 1 << 40,
        range: "a whole number of MiB between 1 and 1099511627776, or `none`",
    };
    const KB: Whole = Whole {
        least: 1,
        most: 1 << 40,
        range: "a whole number of KiB between 1 and 1099511627776, or `none`",
    };
    // The sandbox itself has processes and files open until the command starts.
    const PIDS: Whole = Whole {
        least: 4,
        most: 1 << 22,
        range: "a whole number between 4 and 4194304, or `none`",
    };
    const FILES: Whole = Whole {
        least: 16,
        most: 1 << 22,
        range: "a whole number between 16 and 4194304, or `none`",
    };
    for entry in fields(source, node, "limits", LIMITS)? {
        let (key, node) = (format!("limits.{}", entry.name), entry.node);
        let at = At { source, key: &key };
        let whole = |bounds| Ok(Some(at.clause(node, whole_number(&at, node, bounds)?)));
        match entry.name {
            "memory_mb" => out.memory_mb = whole(MB)?,
            "pids" => out.pids = whole(PIDS)?,
            "cpus" => out.cpu_millis = Some(at.clause(node, cpus(&at, node)?)),
            "open_files" => out.open_files = whole(FILES)?,
            "file_size_mb" => out.file_size_mb = whole(MB)?,
            "disk_mb" => out.disk_mb = whole(MB)?,
            "output_kb" => out.output_kb = whole(KB)?,
            _ => {}
        }
    }
    Ok(())
}

fn examples(at: &At<'_>, node: &Node) -> Result<Vec<crate::policy::Example>, PolicyError> {
    match &node.value {
        Value::List(items) => items.iter().map(|item| example(at, item)).collect(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Map(_) => {
            Err(at.wrong(node, "a list"))
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
