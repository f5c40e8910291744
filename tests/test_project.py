"""The files around the program: metadata, workflows, packaging."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import ROOT, Typed
from pushout import shipped
from pushout.generate import answers, generated
from pushout.records import recorded
from pushout.study.model import available, load

sys.path.insert(0, str(ROOT / "packaging"))

import backend
import check
import progress
import tour
import urls

GIT = shutil.which("git")
SETUP = re.compile(
    r"rustup (toolchain install|component add|target add) |cargo install --locked "
    r"|(sudo )?apt-get (update|install) |git config |docker (build|run) "
)
"""Steps of a workflow besides making targets: it installs tools, and builds the image."""
NO_MAKE = {"windows"}
"""Jobs on a system where the Makefile does not run."""


def tracked(*patterns: str) -> list[Path]:
    """The files of the repository, those that are not yet committed included."""
    if GIT is None:
        pytest.skip("git is not installed")
    command = [GIT, "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).exists()]


def workflows() -> dict[str, Any]:
    return {
        file.name: yaml.safe_load(file.read_text(encoding="utf-8"))
        for file in sorted((ROOT / ".github" / "workflows").iterdir())
    }


def test_without_the_scenario_language_no_crate_reads_texts() -> None:
    if (cargo := shutil.which("cargo")) is None:
        pytest.skip("cargo is not installed")
    command = [
        cargo,
        "tree",
        "--locked",
        "--offline",
        "--package",
        "pushout-net",
        "--edges",
        "normal",
        "--prefix",
        "none",
    ]
    listed = [
        {
            line.split()[0]
            for line in subprocess.run(
                [*command, *more], cwd=ROOT, check=True, capture_output=True, text=True
            ).stdout.splitlines()
        }
        for more in (["--no-default-features"], [])
    ]
    assert listed[1] - listed[0] >= {"toml", "jsonc-parser"}
    own, numbers, values = {"pushout-core", "pushout-net"}, {"libm"}, {"serde", "serde_core", "serde_json", "strsim"}
    below_values = {"itoa", "zmij", "memchr", "indexmap", "equivalent", "hashbrown", "foldhash"}
    assert listed[0] == own | numbers | values | below_values


def test_every_yaml_and_toml_file_can_be_read() -> None:
    files = tracked("*.yml", "*.yaml", "*.cff", "*.toml", "*.lock")
    assert len(files) > 30
    for file in files:
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".toml" or file.name == "Cargo.lock":
            tomllib.loads(text)
        elif file.suffix != ".lock":
            assert isinstance(yaml.safe_load(text), dict), file


def test_there_are_no_symbolic_links() -> None:
    assert [file for file in tracked() if file.is_symlink()] == []


def test_workflows_call_targets_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    made = set()
    for workflow in workflows().values():
        for name, job in workflow["jobs"].items():
            assert job["timeout-minutes"] <= 180
            for step in job["steps"]:
                assert step.keys() <= {"uses", "with", "run", "if"}
                if "run" in step and name not in NO_MAKE and not SETUP.match(step["run"]):
                    program, target, *_ = step["run"].split()
                    assert program == "make"
                    assert re.search(rf"^{re.escape(target)}:.* ## ", makefile, re.MULTILINE), target
                    made.add(target)
    nightly = {
        "equivalence",
        "answers",
        "hostile",
        "instructions",
        "lab-again",
        "laws",
        "net-alone",
        "notebooks-again",
        "test-nightly",
        "tour",
    }
    assert made == {"test", "docs", "msrv", "lab", "test-web", "deny", "fuzz", "wheel", "site", *nightly}


def test_workflows_cover_three_systems_and_keep_their_hours() -> None:
    found = workflows()
    assert {"ubuntu-latest", "macos-latest"} <= set(found["ci.yml"]["jobs"]["test"]["strategy"]["matrix"]["os"])
    assert found["ci.yml"]["jobs"]["windows"]["runs-on"] == "windows-latest"
    assert {"ubuntu-latest", "macos-latest"} <= set(found["wheels.yml"]["jobs"]["wheel"]["strategy"]["matrix"]["os"])
    wheels = found["wheels.yml"]["jobs"]
    assert wheels["windows"]["runs-on"] == "windows-latest"
    assert any("make wheel LIBC=musl" in step.get("run", "") for step in wheels["musl"]["steps"])
    # YAML reads the key `on` as true.
    hours = {
        name: workflow[True]["schedule"][0]["cron"] for name, workflow in found.items() if "schedule" in workflow[True]
    }
    assert set(hours) == {"nightly.yml", "weekly.yml"}
    assert hours["nightly.yml"].endswith("* * *")
    assert re.search(r"\* \* \d$", hours["weekly.yml"])


def test_a_release_is_published_from_a_tag_without_a_password() -> None:
    found = workflows()["wheels.yml"]
    publish = found["jobs"]["publish"]
    assert publish["if"] == "github.ref_type == 'tag'"
    assert found[True]["push"]["tags"] == ["v*"]
    assert set(publish["needs"]) == found["jobs"].keys() - {"publish"}, "what was not tested is not published"
    assert publish["permissions"] == {"id-token": "write"}
    assert all("secrets" not in file.read_text(encoding="utf-8") for file in tracked(".github"))


def test_the_site_is_published_only_where_an_address_is_set() -> None:
    job = workflows()["site.yml"]["jobs"]["site"]
    assert job["if"] == "vars.SITE == 'yes'"
    assert job["permissions"] == {"pages": "write", "id-token": "write"}


def walked(folder: Path) -> list[str]:
    command = [sys.executable, ROOT / "packaging" / "walk.py", folder.name]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True)
    return done.stderr.splitlines()[1:]


def test_the_walk_along_the_site_finds_links_that_lead_nowhere(tmp_path: Path) -> None:
    words = "{" + ",".join(f'"{word}":1' for word in re.findall(r'"(\w+)"', walk_words())) + "}"
    (tmp_path / "searchindex.js").write_text(words, encoding="utf-8")
    (tmp_path / "lab.html").write_text("<p>the lab</p>", encoding="utf-8")
    (tmp_path / "how-to").mkdir()
    right = "<a href='lab.html#home'>lab</a> <a href='how-to/'>guides</a> <a href='how-to/index.html#a'>a</a>"
    (tmp_path / "index.html").write_text(right, encoding="utf-8")
    other = tmp_path / "how-to" / "index.html"
    other.write_text("<h1 id='a'>A</h1> <a href='../index.html'>up</a> <a href='https://other.example'>b</a>", "utf-8")
    assert walked(tmp_path) == []
    wrong = (
        "<a href='no.html'>1</a> <a href='#no'>2</a> <a href='../../x'>3</a> <img src='https://other.example/a.png'>"
    )
    other.write_text(wrong, encoding="utf-8")
    assert walked(tmp_path) == [
        "how-to/index.html: loads https://other.example/a.png from another host",
        "how-to/index.html: no.html: no such page",
        "how-to/index.html: #no: no such place on that page",
        "how-to/index.html: ../../x: leads out of the site",
        "index.html: how-to/index.html#a: no such place on that page",
    ]
    (tmp_path / "searchindex.js").unlink()
    (tmp_path / "lab.html").unlink()
    assert {"lab.html is missing", "the search does not find codel"} <= set(walked(tmp_path))


def walk_words() -> str:
    """The words for which the walk searches."""
    (line,) = re.findall(r"^WORDS = (.*)$", (ROOT / "packaging" / "walk.py").read_text("utf-8"), re.MULTILINE)
    return str(line)


def test_caches_follow_the_lock_file_and_hold_what_cargo_checks() -> None:
    """Cargo compares its own folders with the sources; notebooks and the page of the lab in target/ would be stale."""
    steps = [step for workflow in workflows().values() for job in workflow["jobs"].values() for step in job["steps"]]
    caches = [step["with"] for step in steps if step.get("uses", "").startswith("actions/cache@")]
    assert len(caches) == 4
    for cache in caches:
        assert "github.job" in cache["key"] and "hashFiles('Cargo.lock'" in cache["key"]
        folders = {
            "~/.cargo/registry",
            *(f"target/{name}" for name in ("debug", "release", "wasm32-unknown-unknown")),
        }
        assert set(cache["path"].split()) == folders


def test_metadata_names_no_address_but_that_of_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    own = project.get("urls", {}).get("Repository", "none yet")
    for file in tracked(".github", "*.cff", "deny.toml", "*Cargo.toml", "pyproject.toml", "SECURITY.md", "Dockerfile"):
        named = re.findall(r"https?://[^\s\"'`)]+", file.read_text(encoding="utf-8"))
        assert [address for address in named if not address.startswith(own)] == [], file


def test_one_variable_writes_the_address_everywhere(tmp_path: Path) -> None:
    for name in urls.PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for address in ("https://host.example/first/name", "https://host.example/owner/pushout"):
        urls.main(address, tmp_path)
    project, workspace, core, *_ = (
        tomllib.loads((tmp_path / name).read_text(encoding="utf-8")) for name in urls.PLACES if name != "CITATION.cff"
    )
    assert project["project"]["urls"]["Repository"] == address
    assert project["project"]["scripts"]["pushout"]
    assert workspace["workspace"]["package"]["repository"] == address
    assert core["package"]["repository"] == {"workspace": True}
    assert yaml.safe_load((tmp_path / "CITATION.cff").read_text(encoding="utf-8"))["repository-code"] == address
    assert not any("first" in (tmp_path / name).read_text(encoding="utf-8") for name in urls.PLACES)
    with pytest.raises(SystemExit, match="REPOSITORY must be an address such as"):
        urls.main("", tmp_path)


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    page = json.loads((ROOT / "web" / "package.json").read_text(encoding="utf-8"))
    lock = tomllib.loads((ROOT / "fuzz" / "Cargo.lock").read_text(encoding="utf-8"))
    fuzzed = next(each["version"] for each in lock["package"] if each["name"] == "pushout-core")
    assert citation()["version"] == page["version"] == fuzzed == version
    wheel = f"pushout-{version.replace('-dev', '.dev0')}-….whl["
    assert all(wheel in (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/how-to/cluster.md"))


def test_the_changelog_begins_with_what_comes_next_and_dates_the_release() -> None:
    version = citation()["version"]
    sections = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sections[0] == "Unreleased"
    if not version.endswith("-dev"):
        assert sections[1] == f"{version} - {citation()['date-released']}"


def citation() -> Any:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_citation_names_the_paper_of_every_study() -> None:
    references = {each["notes"].removeprefix("Study ").partition(";")[0]: each for each in citation()["references"]}
    assert sorted(references) == [name for name in available() if load(name).compares]
    for study, reference in references.items():
        source = load(study).source
        assert reference["title"].lower() in source.lower()
        assert all(author["family-names"] in source for author in reference["authors"])


RECORDINGS = ("studies/*/*.json", "docs/*.json", "schema/*.json", "benchmarks/*/*.json")


@pytest.mark.parametrize("file", [file for each in RECORDINGS for file in sorted(ROOT.glob(each))], ids=str)
def test_a_recording_has_one_record_a_line(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text == recorded(json.loads(text)), "written by another function"


def test_a_record_that_is_too_long_or_has_tables_is_opened() -> None:
    long = {"a": ["x" * 200] * 2}
    document = {"few": {"n": 1, "of": [1, None]}, "deep": {"in": {"n": "é" * 110}}, "none": [], "long": long}
    lines = recorded(document).splitlines()
    assert lines[:4] == ["{", ' "few": {"n": 1, "of": [1, null]},', ' "deep": {', f'  "in": {{"n": "{"é" * 110}"}}']
    assert lines[4:8] == [" },", ' "none": [],', ' "long": {', '  "a": [']
    assert json.loads("\n".join(lines)) == document


def test_generated_files_are_marked_as_such() -> None:
    lines = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    patterns = [line.split()[0].removeprefix("/") for line in lines if line.endswith("linguist-generated")]
    unmarked = {
        path.as_posix()
        for path in generated()
        if not any(path.match(pattern) or path.is_relative_to(pattern.removesuffix("/**")) for pattern in patterns)
    }
    filled = {page for answer in answers.declared() for page in answer.pages}
    assert unmarked <= {"docs/performance.md", *filled}, "written by hand but for numbers and a table"


def test_the_image_ends_in_a_run_and_has_no_compiler() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("FROM ")]
    assert json.loads(lines[-1].removeprefix("CMD ")) == ["pushout", "run", "lan"]
    assert any("make wheel" in line for line in lines[: starts[-1]])
    assert not any("apt-get" in line or "cargo" in line for line in lines[starts[-1] :])


def test_a_long_command_shows_how_far_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    script = "print('Compiling a'); print('Compiling b')"
    assert progress.main("building", "^Compiling", "3", sys.executable, "-c", script) == 0
    shown = capfd.readouterr().err
    assert "building: 0 of 3, 0:00" in shown
    assert "building: done in 0:0" in shown
    assert "Compiling" not in shown


def test_what_a_long_command_printed_is_shown_if_it_fails(capfd: pytest.CaptureFixture[str]) -> None:
    script = "import sys; print('the reason'); sys.exit(3)"
    assert progress.main("building", "x", "0", sys.executable, "-c", script) == 3
    shown = capfd.readouterr().err
    assert "building: failed with exit code 3" in shown
    assert "the reason" in shown


@pytest.mark.parametrize(
    ("name", "portable"),
    [
        ("pushout-0.1.0-cp311-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", True),
        ("pushout-0.1.0-cp311-abi3-macosx_11_0_arm64.whl", True),
        ("pushout-0.2.0-cp311-abi3-musllinux_1_2_x86_64.whl", True),
        ("pushout-0.2.0-cp311-abi3-win_amd64.whl", True),
        ("pushout-0.2.0.dev0-cp311-abi3-macosx_11_0_arm64.whl", True),
        ("pushout-0.1.0-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl", False),
        ("pushout-0.1.0-cp311-abi3-linux_x86_64.whl", False),
        ("pushout-0.1.0-cp311-abi3-manylinux_2_36_x86_64.whl", False),
        ("pushout-0.2.0-cp311-abi3-musllinux_1_1_x86_64.whl", False),
    ],
)
def test_the_name_of_a_wheel_says_where_it_runs(name: str, portable: bool) -> None:
    assert (check.NAME.fullmatch(name) is not None) is portable


def test_a_wheel_without_a_scenario_or_with_a_stray_file_is_refused() -> None:
    files = (file for folder in check.FOLDERS for file in (ROOT / folder).rglob("*.*"))
    shipped = [file for file in files if "__pycache__" not in file.parts]
    names = {f"pushout/shipped/{file.relative_to(ROOT).as_posix()}" for file in shipped}
    names |= set(check.PAGES)
    names |= {f"pushout-0.1.0.dist-info/licenses/LICENSE-{name}" for name in ("MIT", "APACHE")}
    check.check_files(names)
    with pytest.raises(SystemExit, match=r"scenarios/lan\.toml is missing"):
        check.check_files(names - {"pushout/shipped/scenarios/lan.toml"})
    with pytest.raises(SystemExit, match=r"lab\.html is missing: run make lab first"):
        check.check_files(names - {check.LAB})
    with pytest.raises(SystemExit, match=r"limits\.md is missing"):
        check.check_files(names - {"pushout/shipped/limits.md"})
    with pytest.raises(SystemExit, match="does not belong into a wheel"):
        check.check_files(names | {"tests/test_project.py"})


def test_the_wheel_contains_what_its_check_demands() -> None:
    """What the build copies is what commands look for, and what the source archive has."""
    assert [f"pushout/shipped/{page.name}" for page in (backend.PAGE, backend.LIMITS)] == list(check.PAGES)
    packed = {
        entry["path"]
        for entry in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["maturin"]["include"]
    }
    assert {str(page.relative_to(ROOT)) for page in (backend.PAGE, backend.LIMITS)} <= packed
    assert (shipped.LIMITS, shipped.PAGE) == (backend.LIMITS, backend.PAGE), "in a clone"
    wheel = re.search(r"^wheel: (.*?) ##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert wheel and "no-lab,lab)" in wheel[1]


def test_a_name_that_is_not_modelled_leads_to_a_page_that_every_installation_has(typed: Typed, tmp_path: Path) -> None:
    refused = typed(tmp_path, "run", "lan", "--set", 'flows.transport.congestion="vegas"')
    assert refused.returncode == 3 and "see pushout list limits" in refused.stderr
    assert "Vegas" in typed(tmp_path, "list", "limits", "vegas").stdout
    assert typed(tmp_path, "list", "limits", "no such").returncode == 2


def test_the_tour_is_that_of_the_readme_and_the_tutorial() -> None:
    verbs = {line.split()[1] for line in tour.commands()}
    assert {"run", "plot", "compare", "size", "sweep", "reproduce", "list", "init"} <= verbs
    assert sum(tour.FAILS.search(line) is not None for line in tour.commands()) == 1
    assert "pushout.run" in tour.notebook()
    compile(tour.notebook(), "tutorial", "exec")
