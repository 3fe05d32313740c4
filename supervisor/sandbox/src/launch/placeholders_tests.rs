use super::*;

#[test]
fn placeholder_that_had_no_room_is_still_ours() {
    let dir = std::env::temp_dir().join(format!("glee-no-room-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let held = path::open_dir_exact(&fs::canonicalize(&dir).unwrap()).unwrap();
    let (name, kind) = (OsStr::new("commondir"), PlaceholderKind::CommonDir);
    let mut seen = Vec::new();
    for text in ["", ".", ".\n", "..\n"] {
        drop(
            path::create_at(held.as_fd(), Path::new(name), 0o444).map(|file| fd::write(file.as_fd(), text.as_bytes())),
        );
        seen.push(is_ours(held.as_fd(), name, kind));
        fs::remove_file(dir.join(name)).unwrap();
    }
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(seen, [true, true, true, false]);
}
