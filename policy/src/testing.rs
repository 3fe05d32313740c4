//! Shared by the tests: a machine that exists only in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::layer::NoLibrary;
use crate::origin::Source;
use crate::paths::lexical;
use crate::resolve::{Host, Walk, resolve};
use crate::resolved::ResolvedPolicy;
use crate::{PolicyError, parse};

pub(crate) struct FakeHost {
    pub(crate) project: PathBuf,
    pub(crate) home: Option<PathBuf>,
    pub(crate) links: BTreeMap<PathBuf, PathBuf>,
    pub(crate) missing: BTreeSet<PathBuf>,
}

impl FakeHost {
    pub(crate) fn new() -> Self {
        Self {
            project: "/workshop/project".into(),
            home: Some("/home/ann".into()),
            links: BTreeMap::new(),
            missing: BTreeSet::new(),
        }
    }

    pub(crate) fn link(mut self, at: &str, to: &str) -> Self {
        self.links.insert(at.into(), to.into());
        self
    }

    pub(crate) fn without(mut self, path: &str) -> Self {
        self.missing.insert(path.into());
        self
    }

    pub(crate) fn homeless(mut self) -> Self {
        self.home = None;
        self
    }
}

impl Host for FakeHost {
    fn project(&self) -> &Path {
        &self.project
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn walk(&self, path: &Path) -> Walk {
        let (mut out, mut links) = (PathBuf::from("/"), Vec::new());
        for component in path.components().skip(1) {
            out.push(component);
            if let Some(to) = self.links.get(&out) {
                links.push((out.clone(), to.clone()));
                let parent = out.parent().map(Path::to_path_buf).unwrap_or_default();
                out = lexical(&parent.join(to));
            }
        }
        let exists = !out.ancestors().any(|p| self.missing.contains(p));
        Walk {
            path: out,
            exists,
            links,
        }
    }
}

pub(crate) fn file() -> Source {
    Source::File("policy.yml".into())
}

pub(crate) fn resolved_on(host: &FakeHost, text: &str) -> Result<ResolvedPolicy, PolicyError> {
    resolve(&parse(&file(), text)?, &NoLibrary, host)
}

pub(crate) fn resolved(text: &str) -> ResolvedPolicy {
    match resolved_on(&FakeHost::new(), text) {
        Ok(policy) => policy,
        Err(error) => panic!("{}", error.render(Some(text))),
    }
}
