package verify

func linkReplacesSymlink(*state) []Finding { return nil }
