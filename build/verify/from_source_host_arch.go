package verify

func fromSourceHostArch(*state) []Finding { return nil }
