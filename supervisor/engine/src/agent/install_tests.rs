use super::*;

/// `name:dependency,dependency` as package directories below `top`.
fn install(top: &Path, packages: &[(&str, &[&str])]) {
    for (dir, depends) in packages {
        let dir = top.join(dir);
        fs::create_dir_all(dir.join("bin")).unwrap();
        let depends: serde_json::Map<_, _> = depends.iter().map(|d| ((*d).to_owned(), "1".into())).collect();
        let text = serde_json::json!({"name": "x", "optionalDependencies": depends}).to_string();
        fs::write(dir.join("package.json"), text).unwrap();
        fs::write(dir.join("bin/tool"), "").unwrap();
    }
}

fn scratch(name: &str) -> PathBuf {
    let dir = fs::canonicalize(std::env::temp_dir())
        .unwrap()
        .join(format!("glee-install-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

#[test]
fn a_single_binary_needs_nothing_beside_it() {
    assert_eq!(
        directories(Path::new("/home/me/.local/bin/codex")),
        Vec::<PathBuf>::new()
    );
    assert_eq!(directories(Path::new("/x/node_modules/tool")), Vec::<PathBuf>::new());
}

#[test]
fn a_global_package_is_its_own_directory() {
    let top = scratch("global");
    install(
        &top,
        &[
            ("lib/node_modules/@a/tool", &["@a/native", "inner"]),
            ("lib/node_modules/@a/tool/node_modules/@a/native", &[]),
            ("lib/node_modules/@a/tool/node_modules/inner", &[]),
            ("lib/node_modules/other", &[]),
        ],
    );
    let package = top.join("lib/node_modules/@a/tool");
    assert_eq!(directories(&package.join("bin/tool")), [package]);
    fs::remove_dir_all(top).unwrap();
}

#[test]
fn a_local_package_brings_the_neighbours_it_depends_on_and_no_others() {
    let top = scratch("local");
    install(
        &top,
        &[
            ("node_modules/tool", &["@a/native", "../../etc", "missing"]),
            ("node_modules/@a/native", &["deep"]),
            ("node_modules/deep", &["tool"]),
            ("node_modules/other", &[]),
        ],
    );
    let at = |name: &str| top.join("node_modules").join(name);
    assert_eq!(
        directories(&at("tool/bin/tool")),
        [at("@a/native"), at("deep"), at("tool")]
    );
    fs::remove_dir_all(top).unwrap();
}

#[test]
fn a_dependency_that_is_a_link_is_not_followed() {
    let top = scratch("link");
    install(&top, &[("node_modules/tool", &["linked"]), ("elsewhere", &[])]);
    std::os::unix::fs::symlink(top.join("elsewhere"), top.join("node_modules/linked")).unwrap();
    let tool = top.join("node_modules/tool");
    assert_eq!(directories(&tool.join("bin/tool")), [tool]);
    fs::remove_dir_all(top).unwrap();
}
