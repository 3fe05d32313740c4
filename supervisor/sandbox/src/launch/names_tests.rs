use super::*;

#[test]
fn only_what_lies_there_anew_is_replaced() {
    let dir = std::env::temp_dir().join(format!("glee-names-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let [kept, edited, anew, absent, made] = ["kept", "edited", "anew", "absent", "made"].map(|name| dir.join(name));
    for path in [&kept, &edited, &anew] {
        fs::write(path, "a").unwrap();
    }
    let names = [&kept, &edited, &anew, &absent, &made];
    let before = Names(names.map(|path| (path.clone(), look(path))).into_iter().collect());
    std::thread::sleep(Duration::from_millis(20));
    if matches!(look(&edited).unwrap().begun, Begun::Born(_)) {
        fs::write(&edited, "b").unwrap();
    }
    fs::remove_file(&anew).unwrap();
    fs::write(&anew, "a").unwrap();
    fs::write(&made, "a").unwrap();
    let stay = Whereabouts::default();
    let replaced = before.replaced(&stay, |_| true);
    let asked = before.replaced(&stay, |path| path == kept);
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(replaced, [anew, made]);
    assert_eq!(asked, Vec::<PathBuf>::new());
}
