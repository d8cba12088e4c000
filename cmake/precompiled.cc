// The source that a target of precompiled headers has to have.
