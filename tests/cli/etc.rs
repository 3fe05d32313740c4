//! What of `/etc` a command sees is what programs need, and no secret that lies beside it.

use crate::claims::claims;

claims! {
    // Keys that the caller may read, as members of Debian's group `ssl-cert` may, and tokens in the machine's git configuration.
    fn keys_and_tokens_of_the_machine_are_not_there(at) {
        let show = "cat /etc/ssl/private/server.key; cat /etc/gitconfig; ls /etc/ssl /etc/ssl/certs";
        let script = format!(
            "cp -a /etc @OUT/etc
             rm -rf @OUT/etc/ssl
             mkdir -p @OUT/etc/ssl/private @OUT/etc/ssl/certs
             echo KEY-OF-THE-MACHINE > @OUT/etc/ssl/private/server.key
             echo CERTIFICATE > @OUT/etc/ssl/certs/some.pem
             printf '[http]\\n\\textraHeader = TOKEN-OF-THE-MACHINE\\n[core]\\n\\tabbrev = 11\\n' > @OUT/etc/gitconfig
             chmod -R a+rX @OUT/etc/ssl @OUT/etc/gitconfig
             mount --bind @OUT/etc /etc
             as_caller sh -c '{show}' 2>/dev/null
             echo =====
             as_caller @BIN run -- sh -c '{show}'"
        );
        let seen = at.in_mount_namespace(&script);
        let (bare, inside) = seen.stdout.split_once("=====").unwrap_or_else(|| panic!("{}", seen.stderr));
        assert!(bare.contains("KEY-OF-THE-MACHINE") && bare.contains("TOKEN-OF-THE-MACHINE"), "{bare}");
        assert!(!inside.contains("OF-THE-MACHINE") && !inside.contains("private"), "{inside}");
        assert!(inside.contains("some.pem") && inside.contains("abbrev = \"11\""), "{inside}\n{}", seen.stderr);
    }

    fn git_knows_who_commits_and_nothing_else_of_the_callers_configuration(at) {
        at.world.file(
            "@HOME/.gitconfig",
            "[user]\n\tname = Ada \"L\" Example\n\temail = ada@example.com\n[http]\n\textraHeader = TOKEN\n[alias]\n\tx = TOKEN\n",
        );
        at.host("git init -q . && echo a > f && git add f && git -c user.name=h -c user.email=h@example.com commit -qm first");
        let seen = at.run(
            "workspace",
            "ls -A ~ | grep gitconfig || true; cat /etc/gitconfig; echo b >> f
             GIT_CONFIG_SYSTEM=/etc/gitconfig git commit -qam second; git log -1 --format='%an <%ae>'",
        );
        assert_eq!(
            (seen.status, seen.stdout.lines().last(), seen.stdout.contains("TOKEN")),
            (0, Some("Ada L Example <ada@example.com>"), false),
            "{}{}",
            seen.stdout,
            seen.stderr
        );
        assert!(!seen.stdout.contains(".gitconfig"), "{}", seen.stdout);
    }

    // The linker looks for what a library needs where the loader would.
    fn libraries_of_libraries_are_found_where_the_machine_keeps_them(at) {
        let seen = at.in_mount_namespace(
            "cp -a /etc @OUT/etc
             echo @PROJECT/deep > @OUT/etc/ld.so.conf.d/deep.conf
             mount --bind @OUT/etc /etc
             as_caller mkdir deep
             echo 'int b(void) { return 0; }' | as_caller cc -shared -fPIC -x c - -o deep/libb.so
             echo 'int b(void); int a(void) { return b(); }' | as_caller cc -shared -fPIC -x c - -x none -Ldeep -lb -o liba.so
             echo 'int a(void); int main(void) { return a(); }' > main.c
             as_caller cc main.c -L. -la -o outside && as_caller @BIN run --policy workspace -- cc main.c -L. -la -o inside
             ls",
        );
        let made = ["outside", "inside"].map(|name| seen.stdout.lines().any(|line| line == name));
        assert_eq!(made, [true, true], "{}{}", seen.stdout, seen.stderr);
    }

    fn a_file_in_the_way_of_a_denied_path_stays_one(at) {
        at.world.file("@OUT/deny.yml", "extends: workspace\nfs: {deny: [\"config/secret.json\"]}\n");
        at.world.file("@PROJECT/config", "a file\n");
        let seen = at.run(
            "@OUT/deny.yml",
            "echo more >> config; cat config; rm -f config || true; mv config other || true; mkdir config || true",
        );
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "a file\nmore\n"), "{}", seen.stderr);
        assert_eq!(at.host("cat config"), "a file\nmore\n");
    }
}
