// @pulumi/pulumi loads @npmcli/arborist at its start and calls it only to serialize functions, which no program here does.
module.exports = {};
