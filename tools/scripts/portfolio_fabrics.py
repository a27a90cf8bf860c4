"""Fabrics that make a search for trees hard, as `forestcoll synth` takes them.

Regular graphs without much symmetry, planes of switches apart, and clusters with a few links that
are slow or gone. Everything random comes from a seed that is part of the case.
"""
import json
import pathlib
import random
import subprocess


def topology(name, nodes, links, one_way=False):
    """A fabric of GPUs alone, from pairs of their numbers; each link 1 GB/s."""
    duplex = {"duplex": "simplex"} if one_way else {}
    return {"format": "forestcoll-topology", "version": 1, "name": name,
            "units": {"bandwidth": "GB/s"},
            "nodes": [{"id": f"n[0-{nodes - 1}]", "type": "compute"}],
            "links": [{"src": f"n{a}", "dst": f"n{b}", "bandwidth": 1, **duplex}
                      for a, b in links]}


def generalized_kautz(nodes, degree):
    """The Imase-Itoh digraph: v leads to -degree·v - i for i = 1 … degree."""
    arcs = [(v, (-degree * v - i) % nodes) for v in range(nodes) for i in range(1, degree + 1)]
    return topology(f"generalized Kautz({nodes}, {degree})", nodes,
                    [(a, b) for a, b in arcs if a != b], one_way=True)


def slim_fly(q):
    """McKay, Miller, Širáň: 2q² nodes of degree (3q - 1) / 2 and diameter 2; q a prime, 1 mod 4."""
    root = next(g for g in range(2, q) if len({pow(g, e, q) for e in range(q - 1)}) == q - 1)
    steps = [{pow(root, e, q) for e in range(side, q - 1, 2)} for side in (0, 1)]
    links = [((side * q + x) * q + y, (side * q + x) * q + z) for side in (0, 1)
             for x in range(q) for y in range(q) for z in range(y + 1, q) if z - y in steps[side]]
    links += [(x * q + (m * x + c) % q, (q + m) * q + c)
              for x in range(q) for m in range(q) for c in range(q)]
    return topology(f"slim fly q = {q}", 2 * q * q, links)


def random_regular(nodes, degree, seed):
    """Stubs joined at random; what joins twice or with itself is exchanged with another link."""
    chance = random.Random(seed)
    stubs = [v for v in range(nodes) for _ in range(degree)]
    chance.shuffle(stubs)
    links, clashes = set(), []
    for a, b in zip(stubs[::2], stubs[1::2]):
        link = (min(a, b), max(a, b))
        if a == b or link in links:
            clashes.append(link)
        else:
            links.add(link)
    while clashes:
        a, b = clashes.pop()
        c, d = chance.choice(sorted(links))
        new = {(min(a, c), max(a, c)), (min(b, d), max(b, d))}
        if a == c or b == d or len(new) < 2 or new & links:
            clashes.append((a, b))
        else:
            links = links - {(c, d)} | new
    return topology(f"random {degree}-regular graph of {nodes}, seed {seed}", nodes, sorted(links))


def nvl72_planes(boxes):
    """Racks of 72 GPUs on eighteen NVLink switches, each a plane, and a rail per GPU number."""
    gpu, nic = "gpu[0-71]", "nic[0-71]"
    return {"format": "forestcoll-topology", "version": 1, "name": f"{boxes}x NVL72, 18 planes",
            "units": {"bandwidth": "GB/s"},
            "templates": {"rack": {
                "nodes": [{"id": gpu, "type": "compute"}, {"id": "nvsw[0-17]", "type": "switch"},
                          {"id": nic, "type": "switch"}],
                "links": [{"src": gpu, "dst": "nvsw[0-17]", "bandwidth": 50},
                          {"src": gpu, "dst": nic, "pair": "zip", "bandwidth": 64}]}},
            "boxes": [{"id": f"box[0-{boxes - 1}]", "template": "rack"}],
            "nodes": [{"id": "rail[0-71]", "type": "switch"}],
            "links": [{"src": f"box[0-{boxes - 1}]/nic{i}", "dst": f"rail{i}", "bandwidth": 50}
                      for i in range(72)]}


MADE_HERE = {"generalized-kautz": generalized_kautz, "slim-fly": slim_fly,
             "random-regular": random_regular, "nvl72-planes": nvl72_planes}


def links_of(program, fabric):
    """All links that join two different nodes, as `--drop` and `--derate` take them."""
    done = subprocess.run([program, "--quiet", "topo", "convert", fabric, "--to", "networkx"],
                          stdout=subprocess.PIPE, check=True)
    document = json.loads(done.stdout)
    edges = document.get("links", document.get("edges"))
    return sorted({"~".join(sorted((edge["source"], edge["target"]))) for edge in edges})


def failure_options(program, fabric, case):
    """The options for what is wrong: named links and nodes, and links drawn by a seed."""
    options = [word for kind in ("drop", "derate") for what in case.get(kind, [])
               for word in (f"--{kind}", what)]
    drawn = case.get("drawn")
    if drawn:
        links = [link for link in links_of(program, fabric)
                 if all(part in link for part in drawn.get("with", []))]
        count = drawn.get("count", round(len(links) * drawn.get("percent", 0) / 100))
        factor = f"={drawn['factor']}" if "factor" in drawn else ""
        for link in random.Random(drawn["seed"]).sample(links, count):
            options += ["--derate" if factor else "--drop", link + factor]
    return options


def write(program, case, path):
    """Writes the fabric of a case; returns the options for its failures."""
    if case["fabric"] in MADE_HERE:
        made = MADE_HERE[case["fabric"]](**case["parameters"])
        pathlib.Path(path).write_text(json.dumps(made))
    else:
        words = [word for name, value in case["parameters"].items()
                 for word in (f"--{name}", str(value))]
        subprocess.run([program, "--quiet", "topo", "gen", case["fabric"], *words, "-o", path],
                       check=True)
    return failure_options(program, path, case)
