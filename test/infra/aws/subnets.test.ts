import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  interfaceEndpointServices,
  layOutSubnets,
  natZone,
  serviceCidr,
} from "../../../infra/clouds/aws/network/subnets.ts";
import { formatCidr, overlappingPairs, overlaps } from "../../../infra/model/cidr.ts";
import { contains, network, parsed } from "../support/networks.ts";

const zones = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), { minLength: 1, maxLength: 7 });

describe("subnets over zones", () => {
  test("are inside the network and do not overlap", () => {
    fc.assert(
      fc.property(network({ min: 16, max: 20 }), zones, (vpc, letters) => {
        const subnets = layOutSubnets(formatCidr(vpc), letters).flatMap((subnet) => [subnet.public, subnet.private]);
        const networks = subnets.map(parsed);
        expect(subnets).toHaveLength(2 * letters.length);
        for (const subnet of networks) expect(contains(vpc, subnet)).toBe(true);
        expect(overlappingPairs(Object.fromEntries(subnets.map((subnet, index) => [String(index), subnet])))).toEqual(
          [],
        );
        for (const { length } of networks) expect(length).toBeLessThanOrEqual(28);
      }),
    );
  });

  test("do not change when a zone is appended, within one to three and four to seven zones", () => {
    fc.assert(
      fc.property(network({ min: 16, max: 20 }), zones, (vpc, letters) => {
        if (letters.length === 1 || letters.length === 4) return;
        const all = layOutSubnets(formatCidr(vpc), letters);
        expect(layOutSubnets(formatCidr(vpc), letters.slice(0, -1))).toEqual(all.slice(0, -1));
      }),
    );
  });

  test("give the pods a quarter of the network each, in two or three zones", () => {
    expect(layOutSubnets("10.42.0.0/16", ["a", "b", "c"])).toEqual([
      { zone: "a", private: "10.42.0.0/18", public: "10.42.192.0/20" },
      { zone: "b", private: "10.42.64.0/18", public: "10.42.208.0/20" },
      { zone: "c", private: "10.42.128.0/18", public: "10.42.224.0/20" },
    ]);
  });

  test("smaller than EKS's minimum are an error", () => {
    expect(() => layOutSubnets("10.0.0.0/25", ["a", "b"])).toThrow("write a network of /24 or larger");
    expect(() => layOutSubnets("10.0.0.0/23", ["a", "b", "c", "d"])).toThrow("write a network of /22 or larger");
    expect(() => layOutSubnets("10.0.0.0/16", [])).toThrow("0 zones");
    expect(() => layOutSubnets("ten", ["a"])).toThrow('"ten" is not an IPv4 network');
  });
});

describe("the rest of an AWS network", () => {
  test("the Service network never overlaps the VPC", () => {
    fc.assert(
      fc.property(network({ min: 16, max: 28 }), (vpc) => {
        expect(overlaps(vpc, parsed(serviceCidr(formatCidr(vpc))))).toBe(false);
      }),
    );
  });

  test("each zone routes to its own gateway, the first zone's, or none", () => {
    const letters = ["a", "b", "c"];
    expect(letters.map((zone) => natZone("zone", zone, letters))).toEqual(["a", "b", "c"]);
    expect(letters.map((zone) => natZone("single", zone, letters))).toEqual(["a", "a", "a"]);
    expect(letters.map((zone) => natZone("none", zone, letters))).toEqual([undefined, undefined, undefined]);
  });

  test("nodes without NAT reach the services for joining a cluster and pulling images", () => {
    expect(interfaceEndpointServices).toEqual(expect.arrayContaining(["ec2", "ecr.api", "ecr.dkr", "eks", "sts"]));
  });
});
