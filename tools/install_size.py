"""Build the wheel, install it into clean environments, and print how large each is; `make size`."""

import subprocess
import sys
import tempfile
import venv
from importlib.metadata import PackagePath, distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("", "view", "web", "view,web")


def wheel(folder: Path) -> Path:
    """Build the wheel into a folder and return it."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


def install(built: Path, place: Path, extra: str = "", *, words: tuple[str, ...] = ()) -> Path:
    """Install the wheel into a new environment without pip, and return that environment's program."""
    venv.create(place, with_pip=False)
    named = f"{built}[{extra}]" if extra else str(built)
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "--quiet", *words, named]
    subprocess.run(pip, check=True, capture_output=True)
    return place / "bin" / "pro0"


def size_of(place: Path) -> float:
    """Return the MiB of an environment's packages and data, with the modules that pip compiles."""
    files = [path for top in ("lib", "share", "bin") for path in (place / top).rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files if not path.is_symlink()) / 2**20


def by_distribution(place: Path) -> dict[str, float]:
    """Return the MiB of each distribution of an environment, with what pip compiled of it, the largest first."""
    [packages] = (place / "lib").glob("python*/site-packages")
    sizes = {one.name: sum(map(_size, one.files or ())) / 2**20 for one in distributions(path=[str(packages)])}
    return dict(sorted(sizes.items(), key=lambda each: -each[1]))


def _size(listed: PackagePath) -> int:
    """Return the bytes of one file of a distribution: pip lists what it compiles too."""
    path = Path(str(listed.locate()))
    return path.stat().st_size if path.is_file() else 0


def main() -> None:
    """Print the sizes, and those of the largest installation by distribution."""
    with tempfile.TemporaryDirectory(prefix="pro0-size-") as name:
        built = wheel(Path(name))
        print(f"the wheel: {built.stat().st_size / 2**20:.1f} MiB")
        for number, extra in enumerate(EXTRAS):
            place = Path(name) / str(number)
            install(built, place, extra)
            print(f"pro0{f'[{extra}]' if extra else ''}: {size_of(place):.1f} MiB")
        for name, size in by_distribution(place).items():
            print(f"  {name:<20} {size:5.1f} MiB")


if __name__ == "__main__":
    main()
